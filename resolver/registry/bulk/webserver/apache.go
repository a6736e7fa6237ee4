package webserver

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// directive is a directive of Apache, or a section that contains directives.
type directive struct {
	line     int64
	text     string
	name     string // in lower case
	rest     string // the arguments, unparsed
	children []*directive
}

// Apache reads the redirects of a configuration of Apache, such as a .htaccess file: those of mod_rewrite and
// mod_alias. base is the URL of the directory that contains the file.
func Apache(r io.Reader, base string) ([]Item, error) {
	at, err := newSite(base)
	if err != nil {
		return nil, err
	}
	text, err := readAll(r)
	if err != nil {
		return nil, err
	}
	a := &apache{site: at, budget: budget{maxAllStates}}
	root, err := a.sections(text)
	if err != nil {
		return nil, err
	}
	a.accepts = acceptedTypes(apacheTypes(root, nil))
	a.configuration(root)
	if len(a.rules) > maxRules {
		return nil, fmt.Errorf("configuration with more than %d rules", maxRules)
	}
	return makeItems(a.rules, a.listed, at.origin, a.accepts, &a.budget), nil
}

// apache converts directives to rules.
type apache struct {
	site
	accepts []accepted
	root    string // DocumentRoot
	rules   []*rule
	listed  []Item
	budget  budget
}

// apacheContext is the context of directives: a server or a directory.
type apacheContext struct {
	dir     string // "" is a server
	engine  bool
	base    string // of RewriteBase
	rewrite []*apacheRule
	alias   []*rule
	conds   []condition
	skip    int         // number of following rules that a flag S may skip
	chain   *apacheRule // the first rule of an open chain
	unsure  error       // why it is unknown whether the rules apply
	refused error       // why the server rejects the configuration
}

// apacheRule is a rule of mod_rewrite.
type apacheRule struct {
	rule
	expression string
	flags      rewriteFlags
	goes       bool      // processing continues with the following rules
	all        *language // the paths that the expression matches; nil if unknown or not computed yet
}

func (a *apache) list(d *directive, err error) {
	a.listed = append(a.listed, Item{Line: d.line, Input: d.text, Err: err})
}

// sections parses a text into a tree of directives and sections.
func (a *apache) sections(text string) (*directive, error) {
	root := &directive{}
	stack := []*directive{root}
	number := int64(0)
	for text != "" {
		var joint strings.Builder
		first := number + 1
		for continued := true; continued && text != ""; {
			var part string
			part, text, _ = strings.Cut(text, "\n")
			number++
			part, continued = strings.CutSuffix(strings.TrimRight(part, "\r"), `\`)
			joint.WriteString(part)
		}
		logical := strings.TrimSpace(joint.String())
		if logical == "" || logical[0] == '#' {
			continue
		}
		if len(logical) > maxLine {
			a.listed = append(a.listed, Item{Line: first, Input: logical[:100], Err: ErrTooLong})
			continue
		}
		name, rest, _ := strings.Cut(strings.ReplaceAll(logical, "\t", " "), " ")
		d := &directive{
			line: first, text: logical, name: strings.ToLower(name),
			rest: strings.TrimSpace(logical[len(name):]),
		}
		switch {
		case strings.HasPrefix(name, "</"):
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
			continue
		case name[0] == '<':
			if d.rest = strings.TrimSuffix(strings.TrimSpace(rest), ">"); len(stack) == maxDepth {
				return nil, errors.New("sections nested too deep")
			}
			d.name = strings.TrimSuffix(d.name, ">")
		}
		parent := stack[len(stack)-1]
		parent.children = append(parent.children, d)
		if name[0] == '<' {
			stack = append(stack, d)
		}
	}
	return root, nil
}

// configuration converts the directives of a file to rules. The file is a server's configuration if it has
// sections or directives that a .htaccess file cannot have.
func (a *apache) configuration(root *directive) {
	main := &apacheContext{dir: a.dir}
	var hosts []*directive
	for _, d := range root.children {
		switch d.name {
		case "<virtualhost":
			hosts = append(hosts, d)
			fallthrough
		case "<directory", "<location", "<locationmatch", "<directorymatch", "documentroot", "servername", "listen",
			"loadmodule":
			main.dir = ""
		}
	}
	var contexts []*apacheContext
	serving := a.serving(hosts)
	for _, host := range hosts {
		own := &apacheContext{}
		if host != serving {
			a.others(host, errors.New("section of another host than --base"))
			continue
		}
		contexts = append(contexts, own)
		a.directives(host.children, own, &contexts)
	}
	if len(hosts) > 0 {
		root.children = slices.DeleteFunc(slices.Clone(root.children),
			func(d *directive) bool { return d.name == "<virtualhost" })
		main.unsure = errors.New("rules of the server do not apply to its virtual hosts")
	}
	contexts = append(contexts, main)
	a.directives(root.children, main, &contexts)
	a.order(contexts)
}

// others lists the rules of a section that does not apply, with the reason.
func (a *apache) others(d *directive, err error) {
	for _, child := range d.children {
		if a.others(child, err); slices.Contains([]string{
			"rewriterule", "redirect", "redirectmatch",
			"redirectpermanent", "redirecttemp",
		}, child.name) {
			a.list(child, err)
		}
	}
}

// order sorts the rules of all contexts by the order in which they are tried: mod_rewrite before mod_alias,
// and the server before its directories.
func (a *apache) order(contexts []*apacheContext) {
	slices.SortStableFunc(contexts, func(x, y *apacheContext) int {
		if (x.dir == "") != (y.dir == "") {
			return map[bool]int{true: -1, false: 1}[x.dir == ""]
		}
		return len(y.dir) - len(x.dir)
	})
	for n, c := range contexts {
		c.continues(&a.budget)
		for _, r := range c.alias {
			r.never = c.refused
		}
		for _, r := range c.rewrite {
			if err := c.inactive(); err != nil {
				r.never = err
			}
			if deeper := contexts[:n]; c.dir != "" {
				r.besides = func(key string) bool {
					return slices.ContainsFunc(deeper,
						func(d *apacheContext) bool {
							return len(d.rewrite) > 0 && d.dir != "" && strings.HasPrefix(key, d.dir)
						})
				}
				if except := r.except; slices.ContainsFunc(deeper,
					func(d *apacheContext) bool { return len(d.rewrite) > 0 && d.dir != "" }) {
					r.except = func(path string) bool { return except != nil && except(path) || r.besides(path) }
				}
			}
			a.rules = append(a.rules, &r.rule)
		}
		if c.dir == "" {
			a.rules = append(a.rules, c.alias...)
			c.alias = nil
		}
	}
	for _, c := range contexts {
		a.rules = append(a.rules, c.alias...)
	}
}

// inactive returns the reason why the mod_rewrite rules of a context never match, nil if they are active.
func (c *apacheContext) inactive() error {
	switch {
	case c.refused != nil:
		return c.refused
	case c.unsure == nil && !c.engine:
		return errors.New("RewriteEngine is off")
	default:
		return c.unsure
	}
}

// continues finds redirects without the flag L whose location a following rule may match as its path.
func (c *apacheContext) continues(b *budget) {
	for n, r := range c.rewrite {
		if !r.goes {
			continue
		}
		begin := "http"
		if len(r.target) > 0 {
			begin = r.target[0].text
		}
		urls := mustAll(begin)
		for _, later := range c.rewrite[n+1:] {
			if l := later.subjects(); l != nil && !b.exists([]*language{l, urls}, nil) {
				continue
			}
			if r.fail == nil {
				r.fail = fmt.Errorf("no flag L: the rule of line %d may match its result", later.line)
			}
			later.unmapped = append(later.unmapped, fmt.Sprintf("paths rewritten by the rule of line %d", r.line))
			break
		}
	}
}

// subjects returns the language of the texts that the expression of a rule matches, nil if unknown.
func (r *apacheRule) subjects() *language {
	if r.all == nil {
		expression := latin1(r.expression)
		if r.flags.anyCase {
			expression = "(?i)" + expression
		}
		r.all, _ = newLanguage("^(?s:.)*(?:" + expression + ")(?s:.)*$") // nil if unsupported
	}
	return r.all
}

// directives converts the directives of a section to rules.
func (a *apache) directives(list []*directive, c *apacheContext, contexts *[]*apacheContext) {
	for _, d := range list {
		if d.name[0] == '<' {
			a.section(d, c, contexts)
			continue
		}
		a.directive(d, c, nil)
	}
}

// section converts a nested section to rules.
func (a *apache) section(d *directive, c *apacheContext, contexts *[]*apacheContext) { //nolint:cyclop // one case per section
	words, _ := apacheWords(d.rest)
	switch {
	case d.name == "<ifmodule" && len(words) == 1:
		module, negated := strings.CutPrefix(words[0], "!")
		known := slices.Contains([]string{
			"mod_rewrite.c", "rewrite_module", "mod_alias.c", "alias_module",
			"mod_headers.c", "headers_module",
		}, module)
		switch {
		case known && !negated:
			a.directives(d.children, c, contexts)
		case known:
			a.others(d, errors.New("section for servers without a module that redirects require"))
		default:
			a.unsure(d, c, fmt.Errorf("unknown whether the server has the module %.40q", module))
		}
	case d.name == "<directory" && len(words) == 1 && !strings.ContainsAny(words[0], "*?[~"):
		dir := strings.TrimSuffix(words[0], "/") + "/"
		below, ok := strings.CutPrefix(dir, strings.TrimSuffix(a.root, "/")+"/")
		if a.root == "" || !ok {
			a.unsure(d, c, errors.New("paths of the directory unknown: not below DocumentRoot"))
			return
		}
		own := &apacheContext{dir: "/" + below, engine: c.engine && c.dir != ""}
		*contexts = append(*contexts, own)
		a.directives(d.children, own, contexts)
	case d.name == "<requireall" || d.name == "<requireany" || d.name == "<limit" || d.name == "<limitexcept":
		a.others(d, fmt.Errorf("rules in %s> are not supported by the registry", d.name))
	default:
		a.unsure(d, c, fmt.Errorf("unknown when the section %s> applies", d.name))
	}
}

// unsure converts a section that may or may not apply. Its rules get no entry, and paths that they may match
// get none either.
func (a *apache) unsure(d *directive, c *apacheContext, err error) {
	for _, child := range d.children {
		if child.name[0] == '<' {
			a.unsure(child, c, err)
			continue
		}
		a.directive(child, c, err)
	}
}

// silent reports whether a directive does not affect redirects.
func silent(name string) bool {
	return slices.Contains([]string{
		"options", "rewriteoptions", "addtype", "addcharset", "addlanguage", "addencoding", "addhandler", "forcetype",
		"adddefaultcharset", "directoryindex", "header", "requestheader", "fileetag", "expiresactive", "expiresdefault",
		"expiresbytype", "indexoptions", "serversignature", "servername", "serveralias", "serveradmin", "documentroot",
		"errorlog", "customlog", "loglevel", "listen", "loadmodule", "allowoverride", "require", "serverroot",
		"pidfile", "sslengine", "sslcertificatefile", "sslcertificatekeyfile", "rewritelog", "rewriteloglevel",
		"setenvif", "setenv",
		"defaultlanguage",
		"languagepriority",
	}, name)
}

func (a *apache) directive(d *directive, c *apacheContext, unsure error) { //nolint:cyclop // one case per directive
	var err error
	var words []string
	if d.name == "rewriterule" || d.name == "rewritecond" {
		words, err = rewriteWords(d.rest)
	} else {
		words, err = apacheWords(d.rest)
	}
	switch {
	case err != nil:
	case d.name == "rewriteengine" && len(words) == 1:
		switch on := strings.EqualFold(words[0], "on"); {
		case unsure == nil:
			c.engine = on
		case on != c.engine:
			c.unsure = unsure
		}
	case d.name == "rewritebase" && len(words) == 1:
		c.base = strings.TrimSuffix(words[0], "/") + "/"
	case d.name == "documentroot" && len(words) == 1:
		a.root = words[0]
	case d.name == "rewritecond":
		c.conds = append(c.conds, a.condition(words))
	case d.name == "rewriterule":
		r := a.rewriteRule(d, c, words)
		if r != nil && unsure != nil && r.fail == nil {
			r.fail = unsure
		}
		c.conds = nil
	case strings.HasPrefix(d.name, "redirect"):
		r := a.redirect(d, words)
		if errors.Is(r.fail, errRedirect) {
			c.refuse(d)
		}
		if r.fail == nil {
			r.fail = unsure
		}
		c.alias = append(c.alias, r)
	case silent(d.name):
	default:
		err = fmt.Errorf("%.40q is not supported by the registry", strings.Fields(d.text)[0])
	}
	if err != nil {
		if d.name == "rewriterule" || d.name == "rewritecond" {
			c.refuse(d)
		}
		a.list(d, err)
	}
}

// refuse records a syntax error: the server does not start with it, or returns 500 if it is in a .htaccess
// file.
func (c *apacheContext) refuse(d *directive) {
	if c.refused == nil {
		c.refused = fmt.Errorf("the server rejects the whole configuration: error in line %d", d.line)
	}
}
