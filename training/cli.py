"""How every script starts and ends: flags, errors in one line, exit status."""

import os
import sys

from absl import app, flags, logging

# Problems with what the user gave; anything else is a fault of ours and
# keeps its traceback.
USER_ERRORS = (ValueError, OSError)


def run(main, define_flags, required=()):
    """Defines the flags, then runs `main` as absl does.

    An error of the user's making is printed in one line and ends the script
    with status 1; --debug prints its traceback.

    Args:
        main: called with the arguments left over; its return value is the
            exit status.
        define_flags: defines the script's flags.
        required: names of flags that must be given.
    """
    define_flags()
    flags.DEFINE_bool("debug", False, "Print the traceback of any error.")
    flags.mark_flags_as_required(required)
    logging.set_verbosity(logging.INFO)
    logging.use_absl_handler()
    # TensorFlow's C++ start-up notes would hide the lines meant for the user.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    app.run(lambda argv: _guarded(main, argv))


def _guarded(main, argv):
    if len(argv) > 1:
        return _fail(f"no argument goes without a flag; received: {argv[1:]}")
    try:
        return main(argv)
    except Exception as error:
        if flags.FLAGS.debug or not _is_users(error):
            raise
        return _fail(error)


def _is_users(error):
    if isinstance(error, USER_ERRORS):
        return True
    # Only where the script has loaded it: --help does not wait for it.
    tf = sys.modules.get("tensorflow")
    return tf is not None and isinstance(
        error,
        (
            tf.errors.DataLossError,
            tf.errors.NotFoundError,
            tf.errors.PermissionDeniedError,
            tf.errors.ResourceExhaustedError,
        ),
    )


def _fail(error):
    print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
    return 1
