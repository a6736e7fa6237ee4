package editor

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// PathTokens is where the tokens of programs and people are.
const PathTokens = "/registry/tokens"

const (
	pathRevoke = PathTokens + "/{id}/revoke"
	apiTokens  = "/api/v1/tokens" //nolint:gosec // a path
)

// tokensShown is how many tokens a page has.
const tokensShown = 100

// tokenDocument is a token, as the API has it.
type tokenDocument struct {
	ID       string            `json:"id,omitempty"`
	Name     string            `json:"name"`
	Role     registry.Role     `json:"role"`
	Prefixes []string          `json:"prefixes,omitempty"`
	Actions  []registry.Action `json:"actions,omitempty"`
	Note     string            `json:"note,omitempty"`
	Created  time.Time         `json:"created,omitzero"`
	By       string            `json:"by,omitempty"`
	Expires  time.Time         `json:"expires,omitzero"`
	Used     string            `json:"used,omitempty"`
	Secret   string            `json:"secret,omitempty"`
}

// prefixesOfToken is how many prefixes of a token are shown.
const prefixesOfToken = 5

// First are its first prefixes.
func (t *tokenDocument) First() []string { return t.Prefixes[:min(len(t.Prefixes), prefixesOfToken)] }

// Others is how many more it has.
func (t *tokenDocument) Others() int { return len(t.Prefixes) - len(t.First()) }

// newTokenDocument is what the API is sent for a new one.
type newTokenDocument struct {
	Name     string            `json:"name"`
	Role     string            `json:"role"`
	Prefixes []string          `json:"prefixes,omitempty"`
	Actions  []registry.Action `json:"actions,omitempty"`
	Note     string            `json:"note,omitempty"`
	Expires  time.Time         `json:"expires,omitzero"`
}

// tokensPage is what the page of tokens shows.
type tokensPage struct {
	Field   pages.Content
	Fault   string
	Done    string
	Tokens  []*tokenDocument
	More    int // that are not shown
	Actions []offeredAction
	Roles   []offeredRole
	// What was typed.
	Name, Prefixes, Note, Expires string
	IsLimited                     bool // who makes tokens has only some names himself
	Own                           string
}

type offeredAction struct {
	Action registry.Action
	About  string
	Chosen bool
}

type offeredRole struct {
	Role, About string
	Chosen      bool
}

// aboutAction says what an action is.
func aboutAction(a registry.Action) string {
	switch a {
	case registry.ActRead:
		return "names, their history, jobs, statistics"
	case registry.ActChange:
		return "single names"
	case registry.ActWithdraw:
		return "single names"
	case registry.ActMint:
		return "new names of a pattern"
	case registry.ActImport:
		return "many names, which also changes and withdraws"
	case registry.ActPurge:
		return "sandboxes"
	default:
		return "making and revoking them"
	}
}

func tokensDone(word string) string {
	if word == "revoked" {
		return "The token was revoked."
	}
	return ""
}

// serveTokens lists the tokens, and makes new ones.
func (e *Editor) serveTokens(p *Request) (message.Reply, error) {
	page := tokensPage{Field: p.Field.HTML(), Done: tokensDone(p.URL.Query().Get("done")), Own: p.Actor.Token, IsLimited: p.Actor.Prefixes != nil}
	if p.Method == http.MethodPost {
		made, err := e.createToken(p)
		switch {
		case err == nil:
			return e.showSecret(p, made), nil
		case problem.Status(err) != http.StatusUnprocessableEntity && problem.Status(err) != http.StatusBadRequest && problem.Status(err) != http.StatusForbidden:
			return message.Reply{}, err
		}
		page.Fault = saidOf(err)
		reply, failed := e.showTokens(p, &page)
		reply.Status = problem.Status(err)
		return reply, failed
	}
	return e.showTokens(p, &page)
}

// showTokens shows the list, with the form as it was sent.
func (e *Editor) showTokens(p *Request, page *tokensPage) (message.Reply, error) {
	var all struct {
		Tokens []tokenDocument `json:"tokens"`
	}
	if err := e.get(p, apiTokens, nil, &all); err != nil {
		return message.Reply{}, err
	}
	slices.SortStableFunc(all.Tokens, func(a, b tokenDocument) int { return b.Created.Compare(a.Created) })
	for i := range min(len(all.Tokens), tokensShown) {
		page.Tokens = append(page.Tokens, &all.Tokens[i])
	}
	page.More = len(all.Tokens) - len(page.Tokens)
	page.Name, page.Prefixes, page.Note, page.Expires = p.Form.Get("name"), p.Form.Get("prefixes"), p.Form.Get("note"), p.Form.Get("expires")
	if p.Form == nil {
		page.Prefixes = strings.Join(p.Actor.Prefixes, "\n")
	}
	for _, a := range registry.Actions() {
		if p.Actor.Does(a) == nil {
			page.Actions = append(page.Actions, offeredAction{a, aboutAction(a), slices.Contains(p.Form["action"], string(a))})
		}
	}
	chosen := p.Form.Get("role")
	for _, r := range []offeredRole{
		{registry.Reader.String(), "reads names", false},
		{registry.Writer.String(), "also registers, changes and withdraws names", false},
		{registry.Admin.String(), "also changes prefixes, and makes tokens", false},
	} {
		r.Chosen = r.Role == chosen || chosen == "" && r.Role == registry.Writer.String()
		page.Roles = append(page.Roles, r)
	}
	return e.show(p, "Tokens", "tokens.html", page), nil
}

// createToken has the API make the token of a form.
func (e *Editor) createToken(p *Request) (made tokenDocument, err error) {
	asked := newTokenDocument{Name: strings.TrimSpace(p.Form.Get("name")), Role: p.Form.Get("role"), Note: strings.TrimSpace(p.Form.Get("note"))}
	for line := range strings.Lines(p.Form.Get("prefixes")) {
		if line = strings.TrimSpace(line); line != "" {
			asked.Prefixes = append(asked.Prefixes, line)
		}
	}
	for _, a := range p.Form["action"] {
		asked.Actions = append(asked.Actions, registry.Action(a))
	}
	if text := strings.TrimSpace(p.Form.Get("expires")); text != "" {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return made, fmt.Errorf("%w: %.40q is no day such as 2031-05-01", registry.ErrInvalid, text)
		}
		asked.Expires = day.AddDate(0, 0, 1) // it is valid on its last day
	}
	reply, err := e.ask(p, http.MethodPost, apiTokens, nil, nil, asked)
	if err != nil {
		return made, err
	}
	return made, read(reply, &made)
}

// showSecret shows the secret of a token, which nobody can show again.
func (e *Editor) showSecret(p *Request, made tokenDocument) message.Reply {
	p.Panel.Above = []pages.Item{{Word: "Tokens", Path: PathTokens}}
	reply := e.show(p, "The token was made", "secret.html", made)
	reply.CacheControl = message.NoStore
	return reply
}

// revokePage is what the page shows that asks whether a token is to be revoked.
type revokePage struct {
	*tokenDocument
	Field pages.Content
	Path  string
	IsOwn bool
}

// serveRevoke asks whether a token is to be revoked, and revokes it.
func (e *Editor) serveRevoke(p *Request) (message.Reply, error) {
	if p.Method == http.MethodPost {
		if _, err := e.ask(p, http.MethodDelete, apiTokens+"/"+p.ID, nil, nil, nil); err != nil {
			return message.Reply{}, err
		}
		return seeOther(PathTokens + "?done=revoked"), nil
	}
	var all struct {
		Tokens []tokenDocument `json:"tokens"`
	}
	if err := e.get(p, apiTokens, nil, &all); err != nil {
		return message.Reply{}, err
	}
	i := slices.IndexFunc(all.Tokens, func(t tokenDocument) bool { return t.ID == p.ID })
	if i < 0 {
		return message.Reply{}, fmt.Errorf("%w: there is no such token", registry.ErrUnknown)
	}
	p.Panel.Above = []pages.Item{{Word: "Tokens", Path: PathTokens}}
	page := revokePage{tokenDocument: &all.Tokens[i], Field: p.Field.HTML(), Path: PathTokens + "/" + p.ID + "/revoke", IsOwn: p.ID == p.Actor.Token}
	return e.show(p, "Revoke a token", "revoke.html", page), nil
}
