//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// registeredNames is the number of names in the registry, more than can be requested during the measurement.
const registeredNames = 1_000_000

// registeredName returns the name of the n-th request. Consecutive names are not adjacent in the registry, and
// names do not repeat for n below registeredNames.
func registeredName(n uint64) string {
	const step = 618_033 // coprime to registeredNames
	return fmt.Sprintf("urn:example:item:%06d", n*step%registeredNames)
}

// registeredTarget returns the target of a name.
func registeredTarget(name string) string {
	return "https://items.example/" + name[strings.LastIndexByte(name, ':')+1:]
}

// hasRegistered reports whether a row needs a registry.
func hasRegistered(s settings) bool {
	return slices.ContainsFunc(rows(s.rows), func(r row) bool { return r.form == registered })
}

// registerNames creates the file of a registry if a row needs it; remove removes it.
func (n *network) registerNames(ctx context.Context, s settings) (remove func(), err error) {
	if !hasRegistered(s) {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp(tmpfs(), "urnd-peers-registry-")
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	names, store := filepath.Join(dir, "names.csv"), filepath.Join(dir, "registry.db")
	if err := writeNames(names); err != nil {
		remove()
		return nil, err
	}
	//nolint:gosec // path of urnd
	output, err := exec.CommandContext(ctx, s.urnd, "registry", "import", "--store", "sqlite:"+store,
		names).CombinedOutput()
	if err != nil {
		remove()
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	n.place.Store = store
	return remove, os.Remove(names)
}

func writeNames(name string) error {
	f, err := os.Create(name) //nolint:gosec // in a folder of this program
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	fmt.Fprintln(out, "name,target")
	for i := range registeredNames {
		name := fmt.Sprintf("urn:example:item:%06d", i)
		fmt.Fprintf(out, "%s,%s\n", name, registeredTarget(name))
	}
	return errors.Join(out.Flush(), f.Close())
}
