// The cores that this process may work on: what emulates leaves some to who measures. In force for
// the calling thread and those it starts; call it before there are others.
#pragma once

namespace assay::runner {

// On the first `most` of those it may use now. A courtesy: a machine that does not let it stays as
// it is.
void keep_to_cores(unsigned most);

}  // namespace assay::runner
