package bulk

import (
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// htaccess reads the redirects of a file .htaccess of Apache, of which w3id.org is made: RewriteRule (mod_rewrite), Redirect and
// RedirectMatch (mod_alias).
type htaccess struct {
	lines       *textLines
	base        string // of the directory that the file is in, with a slash at its end
	host        string // the beginning of it, before the path
	conditional bool   // a RewriteCond came before
	queue       []*item
}

func newHtaccess(r io.Reader, base string) (*htaccess, error) {
	u, err := url.Parse(base)
	if base == "" || err != nil || u.Host == "" {
		return nil, errors.New("--base is the address of the directory that the file .htaccess is in, such as https://w3id.org/example/")
	}
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	return &htaccess{lines: newTextLines(r), base: base, host: u.Scheme + "://" + u.Host}, nil
}

func (h *htaccess) next() (*item, error) {
	for len(h.queue) == 0 {
		text, number, err := h.logical()
		if err != nil {
			return nil, err
		}
		h.directive(number, text)
	}
	next := h.queue[0]
	h.queue = h.queue[1:]
	return next, nil
}

// logical returns the next line with those that continue it, after a backslash at its end.
func (h *htaccess) logical() (text string, number int64, err error) {
	for {
		l, err := h.lines.next()
		if errors.Is(err, io.EOF) && text != "" {
			return text, number, nil
		}
		if err != nil {
			return "", 0, err
		}
		if number == 0 {
			number = l.number
		}
		if l.fault != nil || len(text)+len(l.text) > maxLine {
			h.queue = append(h.queue, rejected(l.number, l.text, "%w", errLong))
			return "", number, nil //nolint:nilerr // what is queued says it
		}
		part, continued := strings.CutSuffix(l.text, `\`)
		if text += part; !continued {
			return text, number, nil
		}
	}
}

// silent are directives that say nothing of where a path leads.
func silent(name string) bool {
	return slices.Contains([]string{
		"rewriteengine", "options", "rewritebase", "rewriteoptions", "addtype", "addcharset", "adddefaultcharset", "directoryindex",
		"<ifmodule", "</ifmodule>",
	}, name)
}

func (h *htaccess) directive(number int64, text string) {
	words, err := apacheWords(text)
	if len(words) == 0 && err == nil || strings.HasPrefix(strings.TrimSpace(text), "#") {
		return
	}
	var made []*item
	name := ""
	if len(words) > 0 {
		name = strings.ToLower(words[0])
	}
	switch {
	case err != nil:
	case silent(name):
		return
	case name == "rewritecond":
		h.conditional = true
		err = errors.New("a condition has nothing like it in the registry; so has the RewriteRule that follows it")
	case name == "rewriterule":
		conditional := h.conditional
		if h.conditional = false; conditional {
			err = errors.New("the RewriteRule has a condition (RewriteCond)")
			break
		}
		made, err = h.rewrite(number, text, words[1:])
	case name == "redirect", name == "redirectpermanent", name == "redirecttemp":
		made, err = h.redirect(number, text, name, words[1:])
	case name == "redirectmatch":
		made, err = h.redirectMatch(number, text, words[1:])
	default:
		made = []*item{badDirective(number, text, words[0])}
	}
	if err != nil {
		made = []*item{rejected(number, text, "%w", err)}
	}
	h.queue = append(h.queue, made...)
}

// rewrite makes the names of a RewriteRule.
func (h *htaccess) rewrite(number int64, text string, words []string) ([]*item, error) {
	if len(words) < 2 {
		return nil, errors.New("a RewriteRule has a pattern and a target")
	}
	flags, err := rewriteFlags(words[2:])
	if err != nil {
		return nil, err
	}
	to := redirection{base: h.base, status: flags.status, losses: flags.losses}
	target := words[1]
	if strings.HasPrefix(words[0], "!") || strings.Contains(target, "%{") || strings.Contains(target, "%1") && !strings.Contains(target, "$") {
		return nil, errors.New("its pattern is negated, or its target has a variable of the server")
	}
	if !flags.noEscape {
		target = strings.ReplaceAll(target, "#", "%23") // as mod_rewrite sends it
	}
	target = strings.NewReplacer(`\%`, "%", `\#`, "#").Replace(target)
	if !flags.gone && target == "-" {
		return nil, errors.New("it redirects nowhere")
	}
	// In a directory, the path begins without a slash.
	expression := "^" + strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(words[0], "^"), "/?"), "/")
	if !strings.HasPrefix(words[0], "^") {
		expression = words[0]
	}
	if flags.anyCase {
		expression = "(?i)" + expression
	}
	return to.items(number, text, expression, target, flags.gone)
}

// redirect makes the names of a Redirect, which is also of what is below its path.
func (h *htaccess) redirect(number int64, text, name string, words []string) ([]*item, error) {
	status, words, err := redirectStatus(name, words)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || !strings.HasPrefix(words[0], "/") || status != "410" && len(words) < 2 {
		return nil, errors.New("it has no path and target")
	}
	path := encodedPath(words[0])
	to := redirection{base: h.host, status: status}
	exact, all := newItem(number, text), newItem(number, text)
	exact.entry.Name = h.host + path
	all.entry.Key = registry.Prefix(h.host + strings.TrimRight(path, "/") + "/")
	if status == "410" {
		exact.is(registry.Withdrawn, gone)
		all.is(registry.Withdrawn, gone)
	} else {
		exact.to(registry.Target{URI: words[1]})
		all.to(registry.Target{URI: strings.TrimRight(words[1], "/") + "/"})
		to.carry(exact)
		to.carry(all)
	}
	if strings.HasSuffix(path, "/") {
		return []*item{all}, nil
	}
	return []*item{exact, all}, nil
}

// redirectMatch makes the names of a RedirectMatch.
func (h *htaccess) redirectMatch(number int64, text string, words []string) ([]*item, error) {
	status, words, err := redirectStatus("redirect", words)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 || status != "410" && len(words) < 2 {
		return nil, errors.New("it has no pattern and target")
	}
	to := redirection{base: h.host, status: status}
	return to.items(number, text, words[0], strings.Join(words[1:], " "), status == "410")
}

// gone is the reason of names that their server answers by 410.
const gone = "gone, as the server said (410)"

// redirection is how a redirect of a web server becomes names.
type redirection struct {
	base   string // of the paths
	status string
	losses []string
	// variables are those of the server whose values are known.
	variables map[string]string
}

// carry sets the status of redirects.
func (r redirection) carry(i *item) { i.redirects(r.status) }

// lose lists what the registry has no place for.
func (r redirection) lose(i *item) {
	for _, text := range r.losses {
		i.lose("%s", text)
	}
}

// items makes names and prefixes of the paths that an expression matches.
func (r redirection) items(number int64, text, expression, target string, isGone bool) ([]*item, error) {
	routes, losses, err := pathRoutes(expression)
	if err != nil {
		return nil, err
	}
	parts, err := references(target)
	if err != nil {
		return nil, err
	}
	for n, part := range parts {
		if text, ok := r.variables[part.text]; ok && part.capture {
			parts[n] = reference{text: text}
		}
	}
	r.losses = append(slices.Clone(r.losses), losses...)
	var all []*item
	for n, route := range routes {
		i := newItem(number, text)
		name := below(r.base, encodedPath(route.path))
		if i.entry.Name = name; route.isPrefix {
			i.entry.Key = registry.Prefix(name)
		}
		if isGone {
			i.is(registry.Withdrawn, gone)
			all = append(all, i)
			continue
		}
		uri, err := route.target(parts)
		if err != nil {
			return nil, err
		}
		if !isAbsolute(uri) {
			return nil, errors.New("its target is a path of the same server")
		}
		i.to(registry.Target{URI: uri})
		r.carry(i)
		if n == 0 {
			r.lose(i)
		}
		all = append(all, i)
	}
	return all, nil
}
