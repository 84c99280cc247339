// The element functions of the op language: one text for NVRTC, the emulator, the evaluator and the
// CPU backend, so all of them agree bit for bit. Templates over a number type whose operations are
// listed in arithmetic.h; branch-free; + - * / fma and sqrt are the only roundings.
// functions.def has each function's error bound.
#pragma once

#include "templates/vocab/math_exponential.h"
#include "templates/vocab/math_logarithm.h"
#include "templates/vocab/math_power.h"
#include "templates/vocab/math_trigonometry.h"
