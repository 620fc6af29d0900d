//! What benchmarks print: parsers from text to figures. Pure.
