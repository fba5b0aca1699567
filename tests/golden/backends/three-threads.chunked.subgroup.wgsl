// three-threads.chunked.subgroup, mapping chunked.subgroup. Usage: python run_wgsl.py NAME.wgsl; a test that hangs does not come back.
// THREAD 0
// 0: Mem[0] = 1;
// THREAD 1
// 0: if (Mem[0] == 0) goto 0;
// 1: Mem[1] = 3;
// THREAD 2
// 0: if (Exch(Mem[1],2) == 3) goto END;
// 1: if (Mem[0] == 0) goto 1;

@group(0) @binding(0) var<storage, read_write> memory: array<atomic<u32>>;
var<private> instance: u32;

const THREADS = 3u;
const INSTANCES = 4u;
const LOCATIONS = 2u;
const STRIDE = 32u;
const SIZE = 5u;
const GROUPS = 2u;
const GROUP_SIZE = 6u;
const TOGETHER = 2u;
const APART = 1u;
const FINISHED = 256u;
const WARM_UP = 257u;
fn CELL(location: u32) -> u32 { return (instance * LOCATIONS + location) * STRIDE; }
fn EXCHANGE(cell: u32, value: u32) -> u32 { return atomicExchange(&memory[cell], value); }
fn ADD(cell: u32, value: u32) -> u32 { return atomicAdd(&memory[cell], value); }

@compute @workgroup_size(6)
fn test(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>) {
    let group = workgroup.x;
    let item = local.x;
    let seat = item / APART;
    instance = group * TOGETHER + seat % TOGETHER;
    let thread = seat / TOGETHER;
    if (item % APART != 0u || instance >= INSTANCES) { return; }
    if (atomicLoad(&memory[WARM_UP]) != 0u) { return; } // launched to be compiled
    var pc = 0u;
    switch (thread) {
    case 0u: {
        while (pc != 1u) {
            switch (pc) {
            case 0u: { // Mem[0] = 1;
                EXCHANGE(CELL(0u), 1u); pc = 1u;
                break;
            }
            default: { break; }
            }
        }
        break;
    }
    case 1u: {
        while (pc != 2u) {
            switch (pc) {
            case 0u: { // if (Mem[0] == 0) goto 0;
                pc = select(1u, 0u, ADD(CELL(0u), 0u) == 0u);
                break;
            }
            case 1u: { // Mem[1] = 3;
                EXCHANGE(CELL(1u), 3u); pc = 2u;
                break;
            }
            default: { break; }
            }
        }
        break;
    }
    case 2u: {
        while (pc != 2u) {
            switch (pc) {
            case 0u: { // if (Exch(Mem[1],2) == 3) goto END;
                pc = select(1u, 2u, EXCHANGE(CELL(1u), 2u) == 3u);
                break;
            }
            case 1u: { // if (Mem[0] == 0) goto 1;
                pc = select(2u, 1u, ADD(CELL(0u), 0u) == 0u);
                break;
            }
            default: { break; }
            }
        }
        break;
    }
    default: { break; }
    }
    ADD(FINISHED, pc);
}
// trial {"test":"three-threads","digest":"3697da9996d52ed7","backend":"wgsl","mapping":"chunked","instances":4,"every_iteration":false,"placement":"subgroup"}
