"""The laws of strictcall as tests, with an opponent that shares no code with the compiler."""
