// What the reader of a stream says it has taken: counts of bytes from the stream's begin, a line each, on a descriptor.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "fathom/core/raster.h"
#include "stream_journal.h"

namespace fathom::cli {

/// The descriptor that --ack names. @throws InvalidArgument it is not open for reading
int parse_ack(const std::string& text);

/// Listens on a thread of its own, so that a reader never waits to be heard, and puts what it hears into the journal.
class Acknowledgements {
 public:
  /// @param begin  bytes that the reader has  @param whole  bytes of all of the stream
  Acknowledgements(int descriptor, std::int64_t begin, std::int64_t whole, Journal& journal);
  /// Listens a second longer, unless the descriptor ends: a reader that went away may just have said what it had.
  ~Acknowledgements() = default;

  /// The stream is handed out up to a byte. @throws IoError the reader said what makes no sense
  void hand_out(std::int64_t end);
  /// Puts what was heard into the journal now.
  void record();
  /// Waits until all is acknowledged. @param look  called some times a second meanwhile
  /// @throws IoError it made no sense, or ended before that
  void wait(const std::function<void()>& look);

 private:
  void listen(const std::stop_token& stop);
  void hear(std::string_view bytes);
  void take(const std::string& line);

  const int descriptor_;
  const std::int64_t whole_;
  Journal& journal_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string line_;  ///< what came of the next one
  std::int64_t handed_out_, heard_, recorded_;
  bool ended_ = false;
  std::exception_ptr error_;
  std::jthread thread_;  ///< the last, since it uses the others
};

/// A sink that tells what it is given, before it writes that.
/// @param begin  bytes of the stream before the first row  @param row_bytes  of the stream, for a row
std::unique_ptr<RasterSink> told_of(std::unique_ptr<RasterSink> sink, Acknowledgements& to, std::int64_t begin,
                                    std::int64_t row_bytes);

}  // namespace fathom::cli
