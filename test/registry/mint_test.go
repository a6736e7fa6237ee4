//go:build e2e

package registry

import (
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
	"github.com/urnd/urnd/urnns"
)

func TestRegistryMint(t *testing.T) {
	t.Parallel()
	store := "sqlite:" + filepath.Join(t.TempDir(), "registry.db")
	for _, tt := range []struct{ args, want, err string }{
		{args: "urn:nbn:fi:lib-{counter} -n 2", want: "urn:nbn:fi:lib-1\nurn:nbn:fi:lib-2\n"},
		{args: "URN:NBN:fi:lib-{counter:4} --from 7", want: "urn:nbn:fi:lib-0007\n"},
		{args: "urn:nbn:de:bvb:12-bsb{counter:8}-{nbn} --from 103137", want: "urn:nbn:de:bvb:12-bsb00103137-3\n"},
		{args: "urn:isbn:978-0-306-40615-{counter}", err: "no digits left"},
		{args: "urn:isbn:978-0-306-4061-{counter} --from 5", want: "urn:isbn:9780306406157\n"},
		{args: "urn:issn:0378-59{counter} --from 5", want: "urn:issn:03785955\n"},
		{args: "urn:isbn:978-0-306-4061-{counter} -n 5", err: "has only 4 free names of 10"},
		{args: "urn:isbn:1234567890{counter}", err: "begins with 978 or 979"},
		{args: "noid:ark:/12345/fk.sdd --from 7", want: "ark:/12345/fk07\n"},
		{args: "urn:nbn:fi:lib-{random:4}{check} --from 7", err: "no first number"},
		{args: "urn:nbn:fi:lib-{counter} -n 0", err: "1 to 10000"},
	} {
		args := append([]string{"registry", "mint", "--store", store}, strings.Fields(tt.args)...)
		got := urndtest.RunWith(t, []string{"URND_REGISTRY_OWNED=urn:,ark:/12345/"}, "", args...)
		if got.Out != tt.want || (got.Status == 0) != (tt.err == "") || !strings.Contains(got.Err, tt.err) {
			t.Errorf("%s: %+v; want %q, %q", tt.args, got, tt.want, tt.err)
		}
	}
	// A minted name gets its target and resolves to it.
	if _, err := urndtest.Run(t, "", "registry", "set", "--store", store, "urn:nbn:fi:lib-1", "--target",
		"https://example.org/1"); err != nil {
		t.Error(err)
	}
	if out, err := urndtest.Run(t, "", "registry", "get", "--store", store, "urn:nbn:fi:lib-1"); err != nil ||
		!strings.Contains(out, "active") {
		t.Errorf("%q, %v", out, err)
	}
}

// TestMintedNumbersAreValid checks that each minted number has a valid check digit: the namespace would reject
// another one.
func TestMintedNumbersAreValid(t *testing.T) {
	t.Parallel()
	store := "sqlite:" + filepath.Join(t.TempDir(), "registry.db")
	for prefix, n := range map[string]string{
		"urn:isbn:978951{counter}": "200", "urn:isbn:97912200{counter}": "200",
		"urn:issn:2342{counter}": "200",
	} {
		out, err := urndtest.Run(t, "", "registry", "mint", "--store", store, "-n", n, prefix)
		if err != nil || strings.Count(out, "\n") != 200 {
			t.Errorf("%s: %q, %v", prefix, out, err)
		}
	}
	if urnns.CheckDigitISBN("978030640615") != '7' || urnns.CheckDigitISSN("0378595") != '5' ||
		urnns.CheckDigitISSN("2434561") != 'X' {
		t.Error("the examples of the standards, ISBN 978-0-306-40615-7, ISSN 0378-5955 and 2434-561X, are not computed")
	}
}

// TestMintByTwoProcesses checks that two concurrent processes mint different names.
func TestMintByTwoProcesses(t *testing.T) {
	t.Parallel()
	store := "sqlite:" + filepath.Join(t.TempDir(), "registry.db")
	const processes, each = 2, "500"
	binary := urndtest.Binary(t)
	var outputs [processes][]byte
	var running sync.WaitGroup
	for i := range processes {
		command := exec.CommandContext(t.Context(), binary, "registry", "mint", "--store", store, "-n", each,
			"urn:nbn:fi:lib-{counter}")
		running.Go(func() {
			var err error
			if outputs[i], err = command.Output(); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	seen := make(map[string]bool)
	for _, out := range outputs {
		for name := range strings.FieldsSeq(string(out)) {
			if seen[name] {
				t.Errorf("%s was handed out twice", name)
			}
			seen[name] = true
		}
	}
	if len(seen) != 1000 {
		t.Errorf("%d names, want 1000", len(seen))
	}
}
