package problem_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
	"github.com/urnd/urnd/urnns"
)

// codesOfOthers returns the codes of errors and steps in other packages: the literals in composite literals
// with a code, and in calls that create such values.
func codesOfOthers(t *testing.T) []string {
	t.Helper()
	var all []string
	add := func(e ast.Expr) {
		if text, ok := literal(e); ok && isCode(text) {
			all = append(all, text)
		}
	}
	visit := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			switch nameOf(n.Type) {
			case "Step":
			case "Rule": // see TestRules
				return false
			default:
				return true
			}
			for _, e := range n.Elts {
				if field, ok := e.(*ast.KeyValueExpr); ok && isNamedCode(field.Key) {
					if text, ok := literal(field.Value); ok {
						all = append(all, text)
					}
				}
			}
		case *ast.KeyValueExpr: // of a Negative, a Reason or a refusal
			if key, ok := n.Key.(*ast.Ident); ok && strings.EqualFold(key.Name, "code") {
				add(n.Value)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if isNamedCode(left) && len(n.Rhs) == len(n.Lhs) {
					ast.Inspect(n.Rhs[i], func(n ast.Node) bool {
						if e, ok := n.(ast.Expr); ok {
							add(e)
						}
						return true
					})
				}
			}
		case *ast.CallExpr:
			switch name := nameOf(n.Fun); name {
			case "PolicyDenial", "notFound", "newDenial", "description", "Invalid", "invalidPattern", "invalid",
				"refused", "invalidAs", "describe", "refusal", "denial", "conflict", "selection":
				for _, argument := range n.Args {
					add(argument)
				}
			}
		case *ast.ReturnStmt: // of netguard.Code, and of the code of a DNS query
			for _, result := range n.Results {
				if text, ok := literal(result); ok &&
					(strings.HasPrefix(text, "destination_") || strings.HasPrefix(text, "dns_")) {
					add(result)
				}
			}
		}
		return true
	}
	carries := regexp.MustCompile(`Negative\{|Reason\{|Step\{|PolicyDenial\(|refus|denial|Denial|[Ii]nvalid(As|Pattern)?\(|conflict\(|selection\(|registry\.Error\{|\bdescription\b|row\.describe|codeOfReply`)
	for _, root := range []string{"../../resolver", "../../internal/netguard", "..", "../../urnns"} {
		if err := inspect(root, carries, visit); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// inspect visits the AST nodes of all Go files below a root that match a pattern, except tests.
func inspect(root string, having *regexp.Regexp, visit func(ast.Node) bool) error {
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !having.Match(text) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err == nil {
			ast.Inspect(file, visit)
		}
		return err
	})
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

func isCode(text string) bool {
	return strings.Contains(text, "_") &&
		!strings.ContainsFunc(text, func(c rune) bool { return c != '_' && (c < 'a' || c > 'z') })
}

func isNamedCode(e ast.Expr) bool { return strings.EqualFold(nameOf(e), "code") }

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// messagesOf returns the keys of the messages of a section.
func messagesOf(t *testing.T, section string) []string {
	t.Helper()
	text, err := os.ReadFile("../pages/messages/en.toml")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(maps.Keys(all[section]))
}

// TestCodes requires that each code has a message in all languages, that each message of an error or a step has
// a code, and that codes are unique per kind of error.
func TestCodes(t *testing.T) {
	codes := slices.Concat(problem.Codes(), codesOfOthers(t))
	const least = 230
	if known := len(slices.Compact(slices.Sorted(slices.Values(codes)))); known < least {
		t.Fatalf("%d codes", known)
	}
	seen := make(map[string]bool)
	for _, code := range problem.CodesOfRows() {
		if seen[code] && code != "internal_error" {
			t.Errorf("code %s is in two rows", code)
		}
		seen[code] = true
	}
	design := pages.New(pages.Site{})
	for _, l := range pages.Languages() {
		for _, code := range codes {
			if !design.In(l).Has("error."+code) && !design.In(l).Has("step."+code) {
				t.Errorf("%s: code %s has no message", l.Tag(), code)
			}
		}
		for _, status := range problem.StatusesSent() {
			if !design.In(l).Has("status." + strconv.Itoa(status)) {
				t.Errorf("%s: status %d (%s) has no message", l.Tag(), status, http.StatusText(status))
			}
		}
	}
	for _, section := range []string{"error", "step"} {
		for _, id := range messagesOf(t, section) {
			if !slices.Contains(codes, id) {
				t.Errorf("message %s.%s: no error or step has this code", section, id)
			}
		}
	}
}

// rulesOfSource returns the rules of all packages by code, with their English texts.
func rulesOfSource(t *testing.T) map[string]string {
	t.Helper()
	rules := make(map[string]string)
	add := func(code, message ast.Expr) {
		id, isCode := literal(code)
		text, isText := constant(message)
		switch {
		case !isCode || !isText:
			t.Errorf("rule %q, %q: no code, or the text is not a constant", id, text)
		case rules[id] != "":
			t.Errorf("duplicate rule %q", id)
		default:
			rules[id] = text
		}
	}
	for _, root := range []string{"../../uri", "../../urnns", "../../resolver", ".."} {
		err := inspect(root, regexp.MustCompile(`newRule\(|uri\.Rule\{`), func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if nameOf(n.Fun) == "newRule" {
					add(n.Args[0], n.Args[3])
				}
			case *ast.CompositeLit:
				of, other := n.Type.(*ast.SelectorExpr)
				if !other || nameOf(of.X) != "uri" || of.Sel.Name != "Rule" || len(n.Elts) == 0 {
					break
				}
				fields := make(map[string]ast.Expr)
				for _, e := range n.Elts {
					field := e.(*ast.KeyValueExpr)
					fields[nameOf(field.Key)] = field.Value
				}
				add(fields["Code"], fields["Requirement"])
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rules
}

// constant returns the value of a string literal, or of a concatenation of several.
func constant(e ast.Expr) (string, bool) {
	if sum, ok := e.(*ast.BinaryExpr); ok {
		left, isLeft := constant(sum.X)
		right, isRight := constant(sum.Y)
		return left + right, isLeft && isRight
	}
	return literal(e)
}

// TestRules requires that each rule has its own code and a message, whose English text is that of the rule as a
// sentence.
func TestRules(t *testing.T) {
	rules, english := rulesOfSource(t), pages.New(pages.Site{}).In(pages.English)
	const least = 110
	if len(rules) < least {
		t.Fatalf("%d rules", len(rules))
	}
	for code, message := range rules {
		if got, want := english.Text("rule."+code), strings.ToUpper(message[:1])+message[1:]+"."; got != want {
			t.Errorf("rule.%s = %q, want %q", code, got, want)
		}
	}
	for _, id := range messagesOf(t, "rule") {
		if rules[id] == "" {
			t.Errorf("message rule.%s: no rule has this code", id)
		}
	}
}

// TestReasonsOfPages: the page for an invalid identifier names the violated rule in its language, and that of a
// gateway the reason; texts of servers are in an unknown language. Documents have the codes.
func TestReasonsOfPages(t *testing.T) {
	isbn, err := uri.ParseURN("urn:isbn:0-395-36341-2")
	if err != nil {
		t.Fatal(err)
	}
	set, err := urnns.NewSet(urnns.Builtin()...)
	if err != nil {
		t.Fatal(err)
	}
	_, err = set.Canonical(isbn)
	design := pages.New(pages.Site{})
	for _, tt := range []struct {
		err                error
		english, german    string
		code, rule, detail string
	}{
		{
			err, "The check digit should be <bdi>1</bdi>.", "Die Prüfziffer müsste <bdi>1</bdi> sein.",
			"not_valid", "check_digit", "the check digit should be 1",
		},
		{
			scheme.PolicyDenial(http.StatusBadGateway, "article_long", "the article is longer than 9 bytes",
				"Number", "9"),
			"has more than <bdi>9</bdi> bytes", "hat mehr als <bdi>9</bdi> Bytes", "article_long", "",
			"the article is longer than 9 bytes",
		},
		{
			&scheme.StatusError{
				Status: http.StatusNotFound, Reply: "diagnostic 235: no", Code: "wais_no_database",
				Values: []string{"Number", "235", "Reply", "no"},
			},
			`There is no such database (diagnostic <bdi>235</bdi>). <bdi lang="">no</bdi>`,
			`Diese Datenbank gibt es nicht (Diagnose <bdi>235</bdi>). <bdi lang="">no</bdi>`, "wais_no_database", "",
			`server response: "diagnostic 235: no"`,
		},
		{
			scheme.UpstreamError(http.StatusNotFound, "550 no"),
			`The server answers: <bdi lang="">&#34;550 no&#34;</bdi>`,
			`Der Server antwortet: <bdi lang="">&#34;550 no&#34;</bdi>`, "server_refused", "",
			`server response: "550 no"`,
		},
	} {
		p := problem.New(tt.err)
		if p.Code != tt.code || p.RuleCode != tt.rule || p.Detail != tt.detail {
			t.Errorf("%v: %s, %s, %q", tt.err, p.Code, p.RuleCode, p.Detail)
		}
		for language, want := range map[pages.Language]string{pages.English: tt.english, pages.German: tt.german} {
			if page := string(design.In(language).Problem(p).Body); !strings.Contains(page, want) {
				t.Errorf("%v in %s has no %s: %s", tt.err, language.Tag(), want, page)
			}
		}
	}
}
