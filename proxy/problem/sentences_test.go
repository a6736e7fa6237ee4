package problem_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// onlyForPrograms are the refusals that no page for readers has: of the admin interface, of batches, and of how a connection is used.
func onlyForPrograms() []string {
	return strings.Fields(`ErrVersion ErrBatches ErrBatchTime ErrBatch ErrBatchSize ErrAdminClient ErrAdminCertificate
		ErrAdminHost ErrAdminRelayed ErrAdminOrigin ErrAdminPath ErrAdminToken ErrTokenRequired ErrNoRegistry ErrNotDeleted
		ErrPrecondition ErrUnmatched ErrContentType ErrDocument
		ErrConnectionAuth ErrBound ErrPlainLogin ErrForm`)
}

// refusals are the texts of the errors of refusal.go, by name.
func refusals(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "refusal.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		call, ok := spec.Values[0].(*ast.CallExpr)
		if !ok {
			return true
		}
		var text strings.Builder
		ast.Inspect(call.Args[0], func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok {
				part, _ := strconv.Unquote(literal.Value)
				text.WriteString(part)
			}
			return true
		})
		all[spec.Names[0].Name] = strings.TrimPrefix(text.String(), "%w: ")
		return true
	})
	return all
}

// What readers are told is in their language: all statuses, all fixed sentences that they may meet, and nothing that is never said.
func TestSentencesAreTranslated(t *testing.T) {
	german := pages.New(pages.Site{}).In(pages.German)
	all := refusals(t)
	const least = 50
	if len(all) < least {
		t.Fatalf("%d refusals: %v", len(all), all)
	}
	for name, text := range all {
		if at := strings.LastIndex(text, " ("); at > 0 && strings.HasSuffix(text, ")") {
			text = text[:at]
		}
		_, ok := german.Sentence(text)
		if isLeft := slices.Contains(onlyForPrograms(), name); ok == isLeft {
			t.Errorf("%s: %q is translated: %t", name, text, ok)
		}
	}
	for _, err := range []error{
		resolver.ErrUnsupported, resolver.ErrNotFound, resolver.ErrGone, resolver.ErrService, resolver.ErrUnreachable, resolver.ErrBusy, resolver.ErrNoHost,
		resolver.ErrForbidden, netguard.ErrForbidden, policy.ErrPort, policy.ErrDenied, scheme.ErrUnsupported, scheme.ErrMethod, scheme.ErrPort,
		scheme.ErrOff, scheme.ErrResponse, scheme.ErrUpstream, scheme.ErrUnanswered, scheme.ErrBody, httpcache.ErrUnasked,
	} {
		if _, ok := german.Sentence(err.Error()); !ok {
			t.Errorf("%q is not translated", err)
		}
	}
	for _, status := range problem.StatusesSent() {
		if _, ok := german.Sentence(http.StatusText(status)); !ok {
			t.Errorf("%d %s is not translated", status, http.StatusText(status))
		}
	}
	source, err := os.ReadFile("proxystatus.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.SplitSeq(string(source), "\n") {
		parts := strings.Split(line, `"`)
		if !strings.HasPrefix(line, "\t\t{") && !strings.HasPrefix(line, "\ttooSlow") || len(parts) < 3 || parts[len(parts)-2] == "" || !strings.Contains(parts[len(parts)-2], " ") {
			continue
		}
		n++
		if _, ok := german.Sentence(parts[len(parts)-2]); !ok {
			t.Errorf("%q is not translated", parts[len(parts)-2])
		}
	}
	if n < 15 {
		t.Errorf("%d rows of errors of servers", n)
	}
}
