//! Random numbers that are the same everywhere: xorshift64*.

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// A key, low ones preferred by the power `skew`.
    pub(crate) fn key(&mut self, keys: u32, skew: f64) -> u32 {
        if skew == 1.0 {
            return self.below(keys);
        }
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        ((f64::from(keys) * unit.powf(skew)) as u32).min(keys - 1)
    }
}
