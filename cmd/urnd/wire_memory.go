package main

import (
	"cmp"
	"os"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cgroup"
)

// memoryLimit returns what Go tries to stay below: limits.memory or else what the control group allows; 0 is the limit of
// GOMEMLIMIT, or none.
func memoryLimit(c config.Limits) config.Size { return cmp.Or(c.Memory, availableMemory()) }

// availableMemory returns what Go may take of the limit of the control group, 0 where there is none, or where GOMEMLIMIT
// says it. A tenth is for what Go does not count: buffers of sockets, pages of files, and tables of the kernel.
func availableMemory() config.Size {
	if os.Getenv("GOMEMLIMIT") != "" {
		return 0
	}
	limit := config.Size(cgroup.Memory(os.DirFS("/")))
	const tenth, mebibyte = 10, 1 << 20
	return (limit - limit/tenth) &^ (mebibyte - 1)
}
