package names

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/cli/clitest"
	"github.com/urnd/urnd/urnns"
)

func TestNamespacesCommand(t *testing.T) {
	list, _, err := clitest.Run(t, Command(clitest.NamesOf), "")
	if err != nil || strings.Count(list, "\n") != len(urnns.Builtin())+1 ||
		!strings.Contains(list, "RFC 2648, RFC 3553") {
		t.Errorf("%s, %v", list, err)
	}
	got, _, err := clitest.Run(t, Command(clitest.NamesOf), "", "show", "--output=json", "OID")
	want := `{"nid":"oid","fold":"none","strip":"","pattern":"","check":"oid","lenient":false,"targets":[{"pattern":"","template":"https://oid-base.com/get/{nss}"}],"source":"RFC 3061"}` + "\n"
	if err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	if _, _, err := clitest.Run(t, Command(clitest.NamesOf), "", "show", "nobody"); err == nil {
		t.Error("an unknown namespace is shown")
	}
}
