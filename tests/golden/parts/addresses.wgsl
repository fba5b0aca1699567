fn PERMUTED(x: u32, n: u32, key: u32) -> u32 { return (((x) * (2u * (key) + 1u) + 11u * (key)) & ((n) - 1u)); }
fn MET(turn: u32, cta: u32, s: u32, seed: u32) -> u32 { return ((PERMUTED(turn, TURNS, SCATTER * ((seed) + 7u * (cta))) + STRIPE * (cta) * (1u + (s) % STRIPES)) & (TURNS - 1u)); }
fn INSTANCE(turn: u32, nth: u32, cta: u32, s: u32, seed: u32) -> u32 { return (PERMUTED(MET(turn, cta, s, seed) * PASSES + (nth), BLOCKS, SHUFFLE_BLOCKS * (seed)) * SLOTS + (s)); }
fn BANK(b: u32, s: u32) -> u32 { return (CONFLICTS * ((b) & 1u) * ((s) & 31u)); }
fn CELL(i: u32, location: u32) -> u32 { return (PERMUTED(i, INSTANCES, PERMUTE_LOCATIONS * 209u * (location))); }
fn ADDRESS(i: u32, location: u32) -> u32 { return ((CELL(i, location) * GLOBALS + (location)) * STRIDE + BANK((i) / SLOTS, i)); }
fn SHARED_ADDRESS(b: u32, s: u32, location: u32) -> u32 { return (((s) * SHAREDS + (location)) * SHARED_STRIDE + BANK(b, s)); }
fn RESULT(i: u32, term: u32) -> u32 { return ((term) * INSTANCES + (i)); }

@group(0) @binding(0) var<storage, read_write> memory: array<atomic<u32>>;
@group(0) @binding(1) var<storage, read_write> plain_memory: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;
@group(0) @binding(3) var<storage, read_write> histogram: array<atomic<u32>>;
@group(0) @binding(4) var<uniform> seed: u32;
var<workgroup> local_memory: array<atomic<u32>, SHARED_WORDS>;
var<workgroup> plain_local_memory: array<u32, SHARED_WORDS>;

fn claim(row: u32, value: u32) -> u32 {
    var old = 0u;
    loop {
        let tried = atomicCompareExchangeWeak(&histogram[row], 0u, value);
        old = tried.old_value;
        if (tried.exchanged || old != 0u) { break; }
    }
    return old;
}

