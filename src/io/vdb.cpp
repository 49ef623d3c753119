// VDB, by the module fathom-openvdb. It is looked for where the program or library that holds this code looks for its
// own libraries, beside itself above all, then where the libraries are installed.
#include <dlfcn.h>

#include <string>

#include "fathom/core/error.h"
#include "io/openvdb.h"
#include "io/sparse_formats.h"

namespace fathom::io::vdb {

#ifdef FATHOM_OPENVDB_MODULES

namespace {

WriteVdb* load() {
  std::string faults;
  for (const char* const name : {FATHOM_OPENVDB_MODULES}) {
    if (void* const module = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      if (void* const entry = dlsym(module, "fathom_write_vdb")) return reinterpret_cast<WriteVdb*>(entry);
    faults += (faults.empty() ? "" : "; ") + std::string(dlerror());
  }
  throw InvalidArgument("what writes .vdb cannot be loaded (" + faults +
                        "): it lies with Fathom's libraries, and takes OpenVDB's, of Debian's libopenvdb-dev; or write "
                        ".nvdb or .vtu");
}

WriteVdb* loaded() {
  static WriteVdb* const entry = load();
  return entry;
}

}  // namespace

void check_build() { loaded(); }

void write(const AtomicFile& file, const SparseField& field) {
  std::string fault;
  loaded()(field, file.stream(), fault);
  if (!fault.empty()) throw IoError(file.target().string() + ": " + fault);
}

#else

void check_build() {
  throw InvalidArgument(
      "this build has no OpenVDB, which .vdb takes: install libopenvdb-dev and build again, or write "
      ".nvdb or .vtu");
}

void write(const AtomicFile&, const SparseField&) { check_build(); }

#endif

}  // namespace fathom::io::vdb
