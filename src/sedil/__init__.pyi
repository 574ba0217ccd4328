from .analytic import odct as odct
from .coding import sparse_code as sparse_code
from .dictionary import SeparableDictionary as SeparableDictionary
from .errors import DictionaryFileError as DictionaryFileError
from .estimators import SeparableDictionaryLearning as SeparableDictionaryLearning
from .imaging.denoise import denoise as denoise
from .imaging.inpaint import inpaint as inpaint
from .imaging.match_patches import match_patches as match_patches
from .imaging.measured_noise import NoiseEstimate as NoiseEstimate
from .imaging.measured_noise import measure_noise as measure_noise
from .imaging.noise import estimate_noise as estimate_noise
from .imaging.patch_stream import stream_patches as stream_patches
from .imaging.patches import normalize_patches as normalize_patches
from .imaging.patches import sample_patches as sample_patches
from .learning.learn import learn as learn
from .learning.minibatch import MiniBatchLearner as MiniBatchLearner
from .learning.minibatch_learn import learn_minibatch as learn_minibatch
from .learning.result import LearningResult as LearningResult
from .learning.result import StopReason as StopReason
from .plots import plot_atoms as plot_atoms
from .plots import plot_history as plot_history
from .plots import plot_noise as plot_noise
from .pretrained import load_dictionary as load_dictionary
from .pretrained import shipped_dictionary as shipped_dictionary

__version__: str
