// opencl-words. Usage: python run_wgsl.py NAME.wgsl [iterations]
// P0: st x, 1
// P0: st y, 1
// P0: bar.global-fence.sync 0
// P1: bar.global-fence.sync 0
// P1: ld r0, x
// exists (P1:r0 == 0)

const PLAIN_WORDS = 524288u;
const THREADS = 2u;
const CTAS = 1u;
const ROLES = 1u;
const WARPS = 2u;
const LANES = 1u;
const SLOTS = 32u;
const BLOCKS = 512u;
const PASSES = 1u;
const TURNS = 512u;
const INSTANCES = 16384u;
const CTA_STEP = 1u;
const TURN_STEP = 1u;
const SHUFFLE = 1u;
const SHUFFLE_BLOCKS = 1u;
const SCATTER = 0u;
const STRIPE = 0u;
const STRIPES = 511u;
const PERMUTE_LOCATIONS = 0u;
const ROTATE = 0u;
const CONFLICTS = 0u;
const GROUPS = 512u;
const GROUP_SIZE = 64u;
const GLOBALS = 1u;
const SHAREDS = 1u;
const STRIDE = 32u;
const SHARED_STRIDE = 1u;
const SHARED_WORDS = 32u;
const COUNTERS = 524288u;
const SPIN = 64u;
const SCRATCH = 540672u;
const SCRATCH_WORDS = 16384u;
const STRESS = 0u;
const STRESSERS = 0u;
const STRESS_ROUNDS = 256u;
const STRESS_BEFORE = 0u;
const VARY = 0u;
const SPREAD = 0u;
const PATCH = 64u;
const REGIONS = 64u;
const OFFSET = 0u;
const WORDS = 557056u;
const TERMS = 1u;
const RESULT_WORDS = 16384u;
const ROWS = 256u;
const ROW_WORDS = 3u;
const HISTOGRAM_WORDS = 770u;
<parts/addresses.wgsl>
@compute @workgroup_size(256)
fn reset(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = id.x;
    plain_memory[ADDRESS(index, 0u)] = 0u; // x
    atomicStore(&memory[COUNTERS + index], 0u);
}

@compute @workgroup_size(GROUP_SIZE)
fn run(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    if (seed == 4294967295u) { return; } // launched to be compiled
    let group = workgroup.x;
    let item = invocation.x;
    let role = group / CTA_STEP % ROLES;
    let turn = group / TURN_STEP % TURNS;
    var patience = SPIN;
    for (var nth = 0u; nth < PASSES; nth += 1u) {
        let cta = (role + ROTATE * nth) % CTAS;
        let warp = cta * WARPS + (item / (LANES * SLOTS) + ROTATE * (nth / CTAS)) % WARPS;
        let lane = (item + ROTATE * (nth / (CTAS * WARPS))) % LANES;
        let slot = PERMUTED(item / LANES % SLOTS, SLOTS, SHUFFLE * (seed + 13u * warp));
        let instance = INSTANCE(turn, nth, cta, slot, seed);
        let position = warp * LANES + lane;
        let at1 = SHARED_ADDRESS(turn * PASSES + nth, slot, 0u); // y, shared
        let at0 = ADDRESS(instance, 0u); // x
        var p1_r0 = 0u;
        if (item < SLOTS) {
            plain_local_memory[SHARED_ADDRESS(turn * PASSES + nth, item, 0u)] = 0u; // y
        }
        workgroupBarrier();
        if (position == 0u || position == 1u) {
            atomicAdd(&memory[COUNTERS + instance], 1u);
            while (patience > 0u && atomicLoad(&memory[COUNTERS + instance]) < THREADS) { patience -= 1u; }
        }
        switch (position) {
        case 0u: { // P0
            plain_memory[at0] = 1u;
            plain_local_memory[at1] = 1u;
            break;
        }
        case 1u: { // P1
            break;
        }
        default: { break; }
        }
        if (cta == 0u) { storageBarrier(); }
        switch (position) {
        case 0u: { // P0
            break;
        }
        case 1u: { // P1
            p1_r0 = plain_memory[at0];
            results[RESULT(instance, 0u)] = p1_r0;
            break;
        }
        default: { break; }
        }
        workgroupBarrier();
        workgroupBarrier();
    }
}

@compute @workgroup_size(256)
fn count(@builtin(global_invocation_id) id: vec3<u32>) {
    let index = id.x;
    let value0 = results[RESULT(index, 0u)];
    if (value0 == 0u) { atomicAdd(&histogram[0], 1u); }
    var hash = 0u;
    hash = (hash ^ value0) * 2654435761u;
    var probe = 0u;
    for (; probe < ROWS; probe += 1u) {
        let row = 2u + (((hash >> 16u) + probe) & (ROWS - 1u)) * ROW_WORDS;
        var owner = atomicLoad(&histogram[row]);
        if (owner == 0u) { owner = claim(row, index + 1u); }
        if (owner == 0u) {
            atomicStore(&histogram[row + 2u], value0);
            owner = index + 1u;
        }
        if (owner == index + 1u || (value0 == results[RESULT((owner - 1u), 0u)])) {
            atomicAdd(&histogram[row + 1u], 1u);
            break;
        }
    }
    if (probe == ROWS) { atomicAdd(&histogram[1], 1u); }
}
// trial {"test":"opencl-words","digest":"fdde4e4b3329295ac932b21ebdae33be709bd71a91fe7846fe95443e4ff49932","backend":"wgsl","instances":16384,"stress":false,"terms":["P1:r0"]}
