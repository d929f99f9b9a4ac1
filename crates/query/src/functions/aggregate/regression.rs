//! Two-column statistics: covariance, correlation, least-squares lines. Arguments are (Y, X).

use crate::error::Result;
use crate::functions::aggregate::basic::Count;
use crate::functions::args::Args;
use crate::functions::define::aggregate;
use crate::functions::{Accumulator, Env, Function};
use crate::types::{Datum, Type as T};

const PAIR: &[T] = &[T::FLOAT8, T::FLOAT8];

macro_rules! regressions {
    ($($name:literal $finish:ident,)*) => {
        &[$(aggregate($name, PAIR, T::FLOAT8, |_| Box::new(Pairs::new($finish))),)*]
    };
}

/// The aggregates.
pub(in crate::functions) static FUNCTIONS: &[Function] = regressions! {
    "covar_pop" covar_pop, "covar_samp" covar_samp, "corr" corr,
    "regr_avgx" regr_avgx, "regr_avgy" regr_avgy, "regr_sxx" regr_sxx, "regr_syy" regr_syy, "regr_sxy" regr_sxy,
    "regr_r2" regr_r2, "regr_slope" regr_slope, "regr_intercept" regr_intercept,
};

/// The one that counts.
pub(in crate::functions) static COUNT: &[Function] = &[aggregate("regr_count", PAIR, T::INT8, |_| Box::new(Count(0)))];

#[derive(Clone, Copy)]
struct Pairs {
    finish: fn(&Pairs) -> Option<f64>,
    count: f64,
    x: f64,
    xx: f64,
    y: f64,
    yy: f64,
    xy: f64,
}

impl Pairs {
    fn new(finish: fn(&Pairs) -> Option<f64>) -> Pairs {
        Pairs { finish, count: 0.0, x: 0.0, xx: 0.0, y: 0.0, yy: 0.0, xy: 0.0 }
    }
}

impl Accumulator for Pairs {
    fn add(&mut self, _: &mut dyn Env, args: &[Datum]) -> Result<()> {
        let (y, x) = (args.float(0)?, args.float(1)?);
        let before = self.count;
        self.count += 1.0;
        self.x += x;
        self.y += y;
        if before > 0.0 {
            let (off_x, off_y) = (x * self.count - self.x, y * self.count - self.y);
            let scale = 1.0 / (self.count * before);
            self.xx += off_x * off_x * scale;
            self.yy += off_y * off_y * scale;
            self.xy += off_x * off_y * scale;
        }
        if !x.is_finite() {
            (self.xx, self.xy) = (f64::NAN, f64::NAN);
        }
        if !y.is_finite() {
            (self.yy, self.xy) = (f64::NAN, f64::NAN);
        }
        Ok(())
    }

    fn finish(&self, _: &mut dyn Env) -> Result<Datum> {
        Ok((self.finish)(self).map_or(Datum::Null, Datum::Float))
    }
}

fn covar_pop(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 0.0).then(|| pairs.xy / pairs.count)
}

fn covar_samp(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 1.0).then(|| pairs.xy / (pairs.count - 1.0))
}

/// Nothing where one side does not vary.
fn corr(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 0.0 && pairs.xx != 0.0 && pairs.yy != 0.0).then(|| pairs.xy / (pairs.xx * pairs.yy).sqrt())
}

fn regr_avgx(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 0.0).then(|| pairs.x / pairs.count)
}

fn regr_avgy(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 0.0).then(|| pairs.y / pairs.count)
}

fn regr_sxx(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 0.0).then_some(pairs.xx)
}

fn regr_syy(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 0.0).then_some(pairs.yy)
}

fn regr_sxy(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 0.0).then_some(pairs.xy)
}

fn regr_r2(pairs: &Pairs) -> Option<f64> {
    if pairs.count == 0.0 || pairs.xx == 0.0 {
        return None;
    }
    Some(if pairs.yy == 0.0 { 1.0 } else { pairs.xy * pairs.xy / (pairs.xx * pairs.yy) })
}

fn regr_slope(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 0.0 && pairs.xx != 0.0).then(|| pairs.xy / pairs.xx)
}

fn regr_intercept(pairs: &Pairs) -> Option<f64> {
    (pairs.count > 0.0 && pairs.xx != 0.0).then(|| (pairs.y - pairs.x * pairs.xy / pairs.xx) / pairs.count)
}
