// CmdStan's arguments: a tree of names and values, read from a command line and written as comments.
#pragma once

#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace driver {

// Something was asked for that this driver does not have; its text says what, by name.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A value, a group of arguments, or a choice: a value that names one of several groups.
struct argument {
  enum class kind { integer, real, boolean, text, group, choice };

  kind type;
  std::string name;
  std::string value;
  bool is_default = true;
  std::vector<argument> parts;  // the members of a group, the alternatives of a choice

  const argument& operator[](const std::string& part) const;
  int as_int() const;
  unsigned int as_unsigned() const;
  double as_double() const;
  bool as_bool() const;

  // `key = value (Default)` lines, as CmdStan heads its output; only what was chosen is shown.
  void write(std::ostream& out, const std::string& indent) const;
};

// All that this driver understands, with CmdStan's defaults.
argument known_arguments();

// The known arguments with what the command line sets; throws usage_error for anything else.
argument parsed(const std::vector<std::string>& words);

}  // namespace driver
