// Stream compaction whose count is plain: two work-groups may draw one place.
// synth check: --grid 2 --arg 'in=[3,4]' --arg 'out=int[2]' --expect 'out[0] > 0 && out[1] > 0'
kernel void compaction_plain(global const int *in, global int *count, global int *out) {
  int item = in[get_group_id(0)];
  if (item > 0) {
    int place = *count;
    *count = place + 1;
    out[place] = item;
  }
}
