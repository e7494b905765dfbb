//! One program from start to end, with its whole process group.
