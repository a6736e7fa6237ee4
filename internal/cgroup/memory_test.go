package cgroup

import (
	"testing"
	"testing/fstest"
)

// TestMemory checks the limits of cgroups(7), those of the group of the process and of its ancestors.
func TestMemory(t *testing.T) {
	const v2, v1 = "sys/fs/cgroup", "sys/fs/cgroup/memory"
	for _, test := range []struct {
		name, group string
		files       map[string]string
		want        int64
	}{
		{"no Linux", "", nil, 0},
		{"memory.max", "0::/system.slice/urnd.service\n", map[string]string{
			v2 + "/system.slice/urnd.service/memory.max":  "536870912\n",
			v2 + "/system.slice/urnd.service/memory.high": "max\n",
			v2 + "/system.slice/memory.max":               "max\n",
		}, 512 << 20},
		{
			"memory.high", "0::/a\n",
			map[string]string{v2 + "/a/memory.max": "1000\n", v2 + "/a/memory.high": "900\n"},
			900,
		},
		{
			"of a slice", "0::/a/b\n",
			map[string]string{v2 + "/a/b/memory.max": "1000\n", v2 + "/a/memory.high": "700\n"},
			700,
		},
		{"none", "0::/a\n", map[string]string{v2 + "/a/memory.max": "max\n", v2 + "/a/memory.high": "max\n"}, 0},
		{"a container", "0::/\n", map[string]string{v2 + "/memory.max": "800\n"}, 800},
		{"a container in the group of another", "0::/../../a\n", map[string]string{v2 + "/memory.max": "800\n"}, 800},
		{"version 1", "9:name=systemd:/\n4:cpu,memory:/a\n0::/\n", map[string]string{
			v1 + "/a/memory.limit_in_bytes": "600\n",
			v1 + "/memory.limit_in_bytes":   "9223372036854771712\n",
		}, 600},
		{
			"version 1 in a container", "4:memory:/docker/a\n",
			map[string]string{v1 + "/memory.limit_in_bytes": "600\n"},
			600,
		},
		{
			"version 1, none", "4:memory:/\n",
			map[string]string{v1 + "/memory.limit_in_bytes": "9223372036854771712\n"},
			0,
		},
		{"damaged", "4:memory\n::\n0\n\n", nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := fstest.MapFS{}
			if test.group != "" {
				files["proc/self/cgroup"] = &fstest.MapFile{Data: []byte(test.group)}
			}
			for name, text := range test.files {
				files[name] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := Memory(files); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}

// TestAvailable checks that a tenth is reserved, and that the result is rounded down to a mebibyte.
func TestAvailable(t *testing.T) {
	files := fstest.MapFS{
		"proc/self/cgroup":            {Data: []byte("0::/a\n")},
		"sys/fs/cgroup/a/memory.max":  {Data: []byte("536870912\n")},
		"sys/fs/cgroup/a/memory.high": {Data: []byte("max\n")},
	}
	if got := Available(files); got != 460<<20 {
		t.Errorf("%d, want 460 MiB", got)
	}
	if got := Available(fstest.MapFS{}); got != 0 {
		t.Errorf("without a limit it is %d", got)
	}
}
