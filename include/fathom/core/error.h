// Errors, classed by who is at fault. The library never prints and never exits.
#pragma once

#include <stdexcept>
#include <string>

namespace fathom {

/// Base of everything that Fathom throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller passed something that has no meaning; the message says what would work.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file or stream is missing, broken, full or not what it claims to be.
class IoError : public Error {
 public:
  using Error::Error;
};

/// No device, or the device failed.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// The caller asked the work to stop; outputs are unspecified.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled by the caller") {}
};

/// A fault of Fathom itself.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace fathom
