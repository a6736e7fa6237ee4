package editor

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// PathMove is where the targets of many names are moved.
const PathMove = "/registry/targets/move"

// movePage is what the page shows by which targets are moved.
type movePage struct {
	Field                       pages.Content
	Fault                       pages.Content
	Prefix, Replace, With, Note string
	Names                       string // the path of the names that have such targets
	Suggested                   []suggestion
	HasLooked                   bool // at the last changes
}

// serveMove shows the form by which the targets of many names are moved, and has a dry run made of what it says, or does it for real.
func (e *Editor) serveMove(p *Request) (message.Reply, error) {
	if p.Method != http.MethodPost {
		return e.showMove(p, nil), nil
	}
	if p.Form.Get("do") == "import" {
		d, ok := e.Drafts.find(p, p.URL.Query().Get("draft"))
		if !ok || d.Kind != jobs.Rewrite || d.Checked == "" || d.Checked != p.Form.Get("checked") {
			return e.showMove(p, errNoDraft), nil
		}
		return e.sendDraft(p, d)
	}
	body, err := json.Marshal(jobs.RewriteBody{
		Prefix: strings.TrimSpace(p.Form.Get("prefix")), Replace: strings.TrimSpace(p.Form.Get("replace")), With: strings.TrimSpace(p.Form.Get("with")),
	})
	if err != nil {
		return message.Reply{}, fmt.Errorf("%w: %w", registry.ErrInvalid, err)
	}
	d, err := e.Drafts.begin(p, draft{Kind: jobs.Rewrite, Note: strings.TrimSpace(p.Form.Get("note"))}, body)
	if err == nil {
		var reply message.Reply
		if reply, err = e.checkDraft(p, d); err == nil {
			return reply, nil
		}
		e.Drafts.end(d)
	}
	if status := problem.Status(err); status >= http.StatusInternalServerError || status == http.StatusUnauthorized {
		return message.Reply{}, err
	}
	return e.showMove(p, err), nil
}

// moveAgain shows the form as it was sent.
func (e *Editor) moveAgain(p *Request) (message.Reply, error) { return e.showMove(p, nil), nil }

// showMove shows the form: as it was sent, as it was sent for the dry run before, or as a link says.
func (e *Editor) showMove(p *Request, fault error) message.Reply {
	page := movePage{Field: p.Field.HTML()}
	given := p.URL.Query()
	d, ok := e.Drafts.find(p, given.Get("draft"))
	var before jobs.RewriteBody
	switch {
	case p.Form.Has("replace"):
		given = p.Form
	case given.Has("replace"):
	case ok && d.Kind == jobs.Rewrite:
		if body, err := d.beginning(d.Bytes); err == nil && json.Unmarshal(body, &before) == nil {
			given = url.Values{"prefix": {before.Prefix}, "replace": {before.Replace}, "with": {before.With}, "note": {d.Note}}
		}
	}
	page.Prefix, page.Replace, page.With, page.Note = given.Get("prefix"), given.Get("replace"), given.Get("with"), given.Get("note")
	if p.Form == nil && page.Prefix == "" && len(p.Actor.Prefixes) > 0 {
		page.Prefix = p.Actor.Prefixes[0]
	}
	if page.Replace != "" {
		page.Suggested, page.HasLooked = e.suggest(p, page.Replace)
		page.Names = "/registry/names?" + url.Values{"target": {hostPart(page.Replace)}, "prefix": {page.Prefix}}.Encode()
	}
	for i := range page.Suggested {
		page.Suggested[i].Path = PathMove + "?" + url.Values{"prefix": {page.Prefix}, "replace": {page.Suggested[i].Replace}, "with": {page.Suggested[i].With}}.Encode()
	}
	p.Panel.Above = []pages.Item{{Word: p.Panel.In.Text("editor.dead_targets"), Path: PathTargets}}
	if fault != nil {
		page.Fault = saidOf(p.Panel.In, fault)
	}
	reply := e.show(p, p.Panel.In.Text("move.title"), "move.html", page)
	if fault != nil {
		reply.Status = problem.Status(fault)
	}
	return reply
}

// hostPart returns what of the beginning of URIs an index has: "//host/".
func hostPart(start string) string {
	if server := serverOf(start); server != "" {
		_, rest, _ := strings.Cut(server, ":")
		return rest
	}
	return start
}
