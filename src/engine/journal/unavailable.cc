#include "engine/journal/unavailable.h"

#include <cerrno>
#include <system_error>

namespace assay::journal {

JournalUnavailable unavailable(int error, const std::string& what) {
  using Why = JournalUnavailable::Why;
  Why why = Why::io_error;
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) why = Why::disk_full;
  if (error == EROFS || error == EACCES || error == EPERM) why = Why::read_only;
  return {why, what + ": " + std::generic_category().message(error)};
}

}  // namespace assay::journal
