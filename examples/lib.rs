//! The example programs are beside this file. A package needs a library or a program of its own, so this one has an
//! empty library.
