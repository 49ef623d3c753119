// Expressions in documents, by muParser: numbers in double, the functions of the C library.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace fathom::stream {

/// May be evaluated by many threads at once: each takes a parser of its own from a small store.
class Expression {
 public:
  /// @param variables  their names
  /// @throws InvalidArgument it does not parse, or names another variable; the message says where
  Expression(std::string text, std::vector<std::string> variables);
  ~Expression();
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;

  const std::string& text() const { return text_; }

  class Parser;
  /// For one thread, until it ends.
  class Use {
   public:
    explicit Use(const Expression& expression);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    /// @param values  of the variables, in their order
    double operator()(std::span<const double> values) const;
    double operator()(double value) const { return (*this)(std::span(&value, 1)); }

   private:
    const Expression& expression_;
    std::unique_ptr<Parser> parser_;
  };

 private:
  std::unique_ptr<Parser> make() const;

  std::string text_;
  std::vector<std::string> variables_;
  mutable std::mutex store_mutex_;
  mutable std::vector<std::unique_ptr<Parser>> store_;
};

}  // namespace fathom::stream
