package editor

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// The pages of one name or prefix.
const (
	pathName     = "/registry/name"
	pathEdit     = "/registry/edit"
	pathHistory  = "/registry/history"
	pathWithdraw = "/registry/withdraw"
)

// kindPrefix is the parameter "kind" of pages about prefixes; "" and "name" are names.
const kindPrefix = "prefix"

// subject is the name or prefix that a page is about.
type subject struct {
	Name     string
	IsPrefix bool
}

// subjectOf returns what a request is about; its Name is "" where none is given.
func subjectOf(p *Request) (s subject, err error) {
	q := p.URL.Query()
	switch s.Name = q.Get("uri"); q.Get("kind") {
	case "", "name":
	case kindPrefix:
		s.IsPrefix = true
	default:
		err = fmt.Errorf("%w: kind is name or prefix", problem.ErrSelection)
	}
	under(p, s)
	return s, err
}

// existing is subjectOf for pages about one that there is.
func existing(p *Request) (subject, error) {
	s, err := subjectOf(p)
	if err == nil && s.Name == "" {
		err = fmt.Errorf("%w: uri is required", problem.ErrSelection)
	}
	return s, err
}

func (s subject) key() registry.Key {
	if s.IsPrefix {
		return registry.Prefix(s.Name)
	}
	return registry.Name(s.Name)
}

// Shown is it as pages show it.
func (s subject) Shown() string {
	if s.IsPrefix {
		return s.Name + "*"
	}
	return s.Name
}

// isolated is it for the title of a page.
func (s subject) isolated() string { return pages.Isolated(s.Shown()) }

// under puts the pages of a subject below the list of names.
func under(p *Request, s subject) {
	if !s.IsPrefix {
		p.Panel.Above = []pages.Item{{Word: p.Panel.In.Text("editor.names"), Path: PathNames}}
	}
}

// to returns the target of a page about it, with more parameters, each a name and a value.
func (s subject) to(path string, more ...[2]string) string {
	q := make(url.Values)
	if s.Name != "" {
		q.Set("uri", s.Name)
	}
	if s.IsPrefix {
		q.Set("kind", kindPrefix)
	}
	for _, m := range more {
		q.Set(m[0], m[1])
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// To is to for templates.
func (s subject) To(path string) string { return s.to("/registry/" + path) }

// lead is a link to one of the pages of a subject.
type lead struct{ Word, Target string }

// leads returns the pages of a subject but for one, of those that who asks may see.
func leads(p *Request, s subject, isWithdrawn bool, but string) (all []lead) {
	in := p.Panel.In
	for _, l := range []struct {
		path, word string
		is         bool
	}{
		{pathName, in.Text("editor.all"), true},
		{pathEdit, in.Text("editor.edit"), service.ToChange.CheckKey(p.Actor, s.key()) == nil},
		{pathHistory, in.Text("editor.history"), true},
		{pathWithdraw, in.Text("editor.withdraw"), !isWithdrawn && service.ToWithdraw.CheckKey(p.Actor, s.key()) == nil},
	} {
		if l.is && l.path != but {
			all = append(all, lead{Word: l.word, Target: s.to(l.path)})
		}
	}
	return all
}

// seeOther sends a browser to a page after what it has sent was done, so that it is not sent again.
func seeOther(target string) message.Reply {
	return message.Reply{Status: http.StatusSeeOther, Location: target, CacheControl: message.NoStore}
}
