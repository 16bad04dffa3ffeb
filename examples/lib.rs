//! The example programs are beside this file. A package needs a library or its own program, so this one has an
//! empty library.
