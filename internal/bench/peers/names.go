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

// registeredNames is how many names the registry has; more than can be asked for while it is measured.
const registeredNames = 1_000_000

// registeredName returns the name that the n-th request asks for. Names that are asked for one after the other are not near to each
// other in the registry, and as long as n is less than registeredNames none comes twice.
func registeredName(n uint64) string {
	const step = 618_033 // it has no divisor in common with registeredNames
	return fmt.Sprintf("urn:example:item:%06d", n*step%registeredNames)
}

// registeredTarget returns where a name is redirected to.
func registeredTarget(name string) string {
	return "https://items.example/" + name[strings.LastIndexByte(name, ':')+1:]
}

// hasRegistered reports whether a row needs a registry.
func hasRegistered(s settings) bool {
	return slices.ContainsFunc(rows(s.rows), func(r row) bool { return r.form == registered })
}

// registerNames makes the file of a registry, where a row needs it; remove removes it.
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
	output, err := exec.CommandContext(ctx, s.urnd, "registry", "import", "--store", "sqlite:"+store, names).CombinedOutput() //nolint:gosec // it is urnd
	if err != nil {
		remove()
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	n.place.Store = store
	return remove, os.Remove(names)
}

func writeNames(name string) error {
	f, err := os.Create(name) //nolint:gosec // it is in a folder of ours
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
