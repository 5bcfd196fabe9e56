"""Client of the REST interface of `assay serve --http`.

    from assay_rest import Client, IOContractBuilder, KernelCode, create_randn_spec

    io = (IOContractBuilder()
          .add_input_tensor("x", create_randn_spec([1024], seed=42))
          .add_output_tensor("y", [1024])
          .set_grid(4).set_block(256)
          .build())
    report = Client().evaluate(KernelCode(source, "cuda", io))
    print(report.verdict, report.summary)

Only the standard library is used. A kernel that fails is an answer, not an exception; exceptions (errors.py)
say that nothing was judged.
"""

from .builders import (IOContractBuilder, create_arange_spec, create_full_spec, create_ones_spec,
                       create_randn_spec, create_tensor_spec, create_uniform_spec, create_zeros_spec)
from .client import Client
from .contract import (ArgSpec, IOContract, KernelCode, LaunchConfig, LaunchDim, TensorData, TensorInit,
                       TensorSpec)
from .errors import (AssayError, EngineFault, InvalidRequest, JobNotFound, NotAllowed, NotAnswered, NotFound,
                     PartNotFound, Refused, ServerError, Unreachable, Violation)
from .job import Job, JobState
from .report import Report
from .stored import load_from_file, save_to_file, to_json

__all__ = [
    "ArgSpec", "AssayError", "Client", "EngineFault", "IOContract", "IOContractBuilder", "InvalidRequest", "Job",
    "JobNotFound", "JobState", "KernelCode", "LaunchConfig", "LaunchDim", "NotAllowed", "NotAnswered", "NotFound",
    "PartNotFound", "Refused", "Report", "ServerError", "TensorData", "TensorInit", "TensorSpec", "Unreachable", "Violation",
    "create_arange_spec", "create_full_spec", "create_ones_spec", "create_randn_spec", "create_tensor_spec",
    "create_uniform_spec", "create_zeros_spec", "load_from_file", "save_to_file", "to_json",
]
__version__ = "0.1.0"
