// Small text helpers for the phone set, which has neither fmt nor iostream.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace npukit {

// Appends all parts: Cat("expected ", 3, ", found ", 4.5). Numbers print shortest-exact.
class Piece {
 public:
  Piece(std::string_view s) : s_(s) {}                              // NOLINT: implicit by design
  Piece(const std::string& s) : s_(s) {}                            // NOLINT
  Piece(const char* s) : s_(s) {}                                   // NOLINT
  Piece(bool b) : s_(b ? "true" : "false") {}                       // NOLINT
  Piece(int v) : Piece(static_cast<long long>(v)) {}                // NOLINT
  Piece(unsigned v) : Piece(static_cast<unsigned long long>(v)) {}  // NOLINT
  Piece(long v) : Piece(static_cast<long long>(v)) {}               // NOLINT
  Piece(unsigned long v) : Piece(static_cast<unsigned long long>(v)) {}  // NOLINT
  Piece(long long v);                                                    // NOLINT
  Piece(unsigned long long v);                                           // NOLINT
  Piece(float v);                                                        // NOLINT
  Piece(double v);                                                       // NOLINT
  std::string_view view() const { return own_.empty() ? s_ : std::string_view(own_); }

 private:
  std::string_view s_;
  std::string own_;
};

std::string CatPieces(std::initializer_list<Piece> pieces);
template <class... A>
std::string Cat(const A&... a) {
  return CatPieces({Piece(a)...});
}
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
std::string JoinInts(std::span<const std::int64_t> v,
                     std::string_view separator);  // "1x3x48x320" with "x"
std::vector<std::string> Split(
    std::string_view s, char separator);  // n separators give n + 1 parts, some perhaps empty
// Whole-string conversions, in the C locale: false on anything left over, overflow or empty.
// ParseDouble takes "inf" and "nan": who wants finite numbers checks.
bool ParseInt64(std::string_view s, std::int64_t* out);
bool ParseDouble(std::string_view s, double* out);
// Replaces control characters, direction marks and invalid UTF-8 by '?', so that a hostile name
// cannot break a one-line message; longer text is cut and ends in "...".
std::string Printable(std::string_view s, std::size_t max_bytes = 120);

}  // namespace npukit
