package editor

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// PathTokens is the path of the list of tokens.
const PathTokens = "/registry/tokens"

const pathRevoke = PathTokens + "/{id}/revoke"

// tokensShown is the page size of tokens.
const tokensShown = 100

// shownToken is a token for display.
type shownToken struct {
	token.Token
	Secret string // only of a new token
}

// prefixesOfToken is the number of prefixes that are shown.
const prefixesOfToken = 5

// First returns the first prefixes.
func (t *shownToken) First() []string { return t.Prefixes[:min(len(t.Prefixes), prefixesOfToken)] }

// Others returns the number of further prefixes.
func (t *shownToken) Others() int { return len(t.Prefixes) - len(t.First()) }

// tokensPage is the data of the page of tokens.
type tokensPage struct {
	Field   pages.Content
	Error   pages.Content
	Tokens  []*shownToken
	More    int // number of tokens that are not shown
	Actions []offeredAction
	Roles   []offeredRole
	// The submitted form.
	Name, Prefixes, Note, Expires string
	IsLimited                     bool // the actor has owned prefixes, and can only grant these
	Own                           string
}

type offeredAction struct {
	Action      registry.Action
	Description string
	Chosen      bool
}

type offeredRole struct {
	Role, Description string
	Chosen            bool
}

// serveTokens lists the tokens, and creates new ones.
func (e *Editor) serveTokens(p *Request) (message.Reply, error) {
	page := newTokensPage(p)
	if p.Method == http.MethodPost {
		made, err := e.createToken(p)
		switch {
		case err == nil:
			p.Outcome = e.contents.Make(p.Panel.Writer.Language(), "secret.html", made)
			return seeOther(PathTokens), nil
		case problem.Status(err) != http.StatusUnprocessableEntity && problem.Status(err) != http.StatusBadRequest &&
			problem.Status(err) != http.StatusForbidden:
			return message.Reply{}, err
		}
		page.Error = errorContent(p.Panel.Writer, err)
		reply, failed := e.showTokens(p, page)
		reply.Status = problem.Status(err)
		return reply, failed
	}
	return e.showTokens(p, page)
}

func newTokensPage(p *Request) *tokensPage {
	return &tokensPage{Field: p.Field.HTML(), Own: p.Actor.Token, IsLimited: p.Actor.Prefixes != nil}
}

// redisplayTokens shows the list with the form as it was submitted.
func (e *Editor) redisplayTokens(p *Request) (message.Reply, error) {
	return e.showTokens(p, newTokensPage(p))
}

// showTokens shows the list, with the form as it was submitted.
func (e *Editor) showTokens(p *Request, page *tokensPage) (message.Reply, error) {
	all, _, err := e.Service.Tokens(p.Context(), p.Actor)
	if err != nil {
		return message.Reply{}, err
	}
	slices.SortStableFunc(all, func(a, b token.Token) int { return b.Created.Compare(a.Created) })
	for _, t := range all[:min(len(all), tokensShown)] {
		page.Tokens = append(page.Tokens, &shownToken{Token: t})
	}
	page.More = len(all) - len(page.Tokens)
	page.Name, page.Prefixes, page.Note, page.Expires = p.Form.Get("name"), p.Form.Get("prefixes"), p.Form.Get("note"),
		p.Form.Get("expires")
	if p.Form == nil {
		page.Prefixes = strings.Join(p.Actor.Prefixes, "\n")
	}
	for _, a := range registry.Actions() {
		if p.Actor.CheckAction(a) == nil {
			page.Actions = append(page.Actions,
				offeredAction{
					a, p.Panel.Writer.Text("tokens.may_" + string(a)),
					slices.Contains(p.Form["action"], string(a)),
				})
		}
	}
	chosen := p.Form.Get("role")
	for _, role := range []registry.Role{registry.Reader, registry.Writer, registry.Admin} {
		r := offeredRole{Role: role.String(), Description: p.Panel.Writer.Text("tokens.role_" + role.String())}
		r.Chosen = r.Role == chosen || chosen == "" && role == registry.Writer
		page.Roles = append(page.Roles, r)
	}
	return e.show(p, p.Panel.Writer.Text("editor.tokens"), "tokens.html", page), nil
}

// createToken creates the token of a form.
func (e *Editor) createToken(p *Request) (made *shownToken, err error) {
	requested := token.Token{Name: strings.TrimSpace(p.Form.Get("name")), Note: strings.TrimSpace(p.Form.Get("note"))}
	for line := range strings.Lines(p.Form.Get("prefixes")) {
		if line = strings.TrimSpace(line); line != "" {
			requested.Prefixes = append(requested.Prefixes, line)
		}
	}
	if err := requested.Role.UnmarshalText([]byte(p.Form.Get("role"))); err != nil {
		return nil, err
	}
	for _, text := range p.Form["action"] {
		var action registry.Action
		if err := action.UnmarshalText([]byte(text)); err != nil {
			return nil, err
		}
		requested.Actions = append(requested.Actions, action)
	}
	if text := p.Form.Get("expires"); text != "" {
		day, err := plaintext.ParseDay(text)
		if err != nil {
			return made, invalid("token_day")
		}
		requested.Expires = day.AddDate(0, 0, 1) // the last day is included
	}
	t, secret, err := e.Service.CreateToken(p.Context(), p.Actor, requested)
	return &shownToken{t, secret}, err
}

// revokePage is the data of the confirmation page of a revocation.
type revokePage struct {
	*shownToken
	Field pages.Content
	Path  string
	IsOwn bool
}

// serveRevoke asks for confirmation, and revokes a token.
func (e *Editor) serveRevoke(p *Request) (message.Reply, error) {
	if p.Method == http.MethodPost {
		revoked, err := e.Service.RevokeToken(p.Context(), p.Actor, p.ID)
		switch {
		case errors.Is(err, registry.ErrUnknown): // after a double click; the list does not have it
			return seeOther(PathTokens), nil
		case err != nil:
			return message.Reply{}, err
		}
		e.Revoked(revoked.ID)
		p.Outcome = p.Panel.Writer.T("tokens.revoked", "Name", pages.Bdi(revoked.Name))
		return seeOther(PathTokens), nil
	}
	return e.confirmRevoke(p)
}

// confirmRevoke shows the confirmation page of a revocation.
func (e *Editor) confirmRevoke(p *Request) (message.Reply, error) {
	all, _, err := e.Service.Tokens(p.Context(), p.Actor)
	if err != nil {
		return message.Reply{}, err
	}
	i := slices.IndexFunc(all, func(t token.Token) bool { return t.ID == p.ID })
	if i < 0 {
		return message.Reply{}, fmt.Errorf("%w: unknown token", registry.ErrUnknown)
	}
	p.Panel.Crumbs = []pages.Item{{Label: p.Panel.Writer.Text("editor.tokens"), Path: PathTokens}}
	page := revokePage{
		shownToken: &shownToken{Token: all[i]}, Field: p.Field.HTML(),
		Path: PathTokens + "/" + p.ID + "/revoke", IsOwn: p.ID == p.Actor.Token,
	}
	return e.show(p, p.Panel.Writer.Text("tokens.revoke_title", "Name", pages.Isolated(all[i].Name)), "revoke.html",
		page), nil
}
