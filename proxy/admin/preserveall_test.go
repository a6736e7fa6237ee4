package admin_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/jobs"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/resolver/registry/token"
)

// failing is a store that fails with an error while one is set.
type failing struct {
	registry.Store
	err *atomic.Pointer[error]
}

func (f failing) failure() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}

func (f failing) Lookup(ctx context.Context, key registry.Key) (registry.Entry, error) {
	if err := f.failure(); err != nil {
		return registry.Entry{}, err
	}
	return f.Store.Lookup(ctx, key)
}

func (f failing) Read(ctx context.Context, do func(registry.Tx) error) error {
	if err := f.failure(); err != nil {
		return err
	}
	return f.Store.Read(ctx, do)
}

func (f failing) Write(ctx context.Context, do func(registry.WriteTx) error) error {
	if err := f.failure(); err != nil {
		return err
	}
	return f.Store.Write(ctx, do)
}

// editorForm is a form of the editor with its input.
type editorForm struct {
	name, at string
	typed    url.Values
}

func editorForms() []editorForm {
	const own = "/registry/%s?uri=urn:nbn:fi:a"
	long := strings.TrimSpace(strings.Repeat("Kalevala \"1835\" <i>ä</i> 卡勒瓦拉 ", 1000))
	return []editorForm{
		{"a new name", "/registry/edit", url.Values{
			"name": {"urn:nbn:fi:new"}, "t0-uri": {"https://new.example/"}, "title": {long},
			"t0-until": {"2031-05-01T12:00"}, "do": {"save"},
		}},
		{
			"a new prefix", "/registry/edit?kind=prefix",
			url.Values{"name": {"urn:nbn:fi:p-"}, "pattern": {"[0-9]+"}, "do": {"preview"}},
		},
		{
			"a change", fmt.Sprintf(own, "edit"),
			url.Values{"contact": {"mailto:<b>@a.example"}, "note": {"two\r\nlines"}, "do": {"save"}},
		},
		{
			"one more target", fmt.Sprintf(own, "edit"),
			url.Values{"t1-uri": {"https://b.example/"}, "t1-title": {"a \u202e title"}, "do": {"add"}},
		},
		{
			"a withdrawal", fmt.Sprintf(own, "withdraw"),
			url.Values{"reason": {"it burned"}, "successors": {"urn:nbn:fi:b"}, "do": {"save"}},
		},
		{
			"a move", "/registry/targets/move",
			url.Values{
				"prefix": {"urn:nbn:"}, "replace": {"https://a.example/"}, "with": {"https://b.example/"},
				"note": {"moved"},
			},
		},
		{
			"a token", "/registry/tokens",
			url.Values{
				"name": {"scanner"}, "prefixes": {"urn:nbn:fi:a\r\nurn:nbn:fi:b"}, "note": {"for it"},
				"expires": {"2999-12-31"},
			},
		},
		{
			"an import", "/registry/import",
			url.Values{
				"text": {"name,target\r\nurn:nbn:fi:i,https://i.example/\r\n"}, "format": {"csv"},
				"encoding": {"utf-8"},
			},
		},
	}
}

// Input is preserved, in every form and whatever fails between its page and its response; submitting it again
// succeeds.
func TestNoFormIsLost(t *testing.T) {
	type scene struct {
		*browser
		site    *site
		secret  string
		failure *atomic.Pointer[error]
		restart func()
	}
	fail := func(err error) func(*scene) { return func(s *scene) { s.failure.Store(&err) } }
	cases := []struct {
		name   string
		happen func(s *scene)
		expect string
		logsIn bool
	}{
		{"a restart", func(s *scene) { s.restart() }, "Your input is kept", true},
		{
			"a logout in another tab",
			func(s *scene) { s.open("/logout", url.Values{"csrf": {csrf(t, s.open("/registry/names", nil))}}) },
			"Your input is kept", true,
		},
		{
			"another login", func(s *scene) { s.logIn(t, s.secret, "/registry/names") },
			"opened before your login", false,
		},
		{"no cookie", func(s *scene) { clear(s.cookies) }, "Your input is kept", true},
		{
			"the database is away", fail(fmt.Errorf("%w: it is away", registry.ErrUnavailable)),
			"The registry failed", false,
		},
		{
			"the disk is full", fail(fmt.Errorf("%w: database or disk is full", registry.ErrReadOnly)),
			"The registry failed", false,
		},
		{"an error that nobody knows", fail(errors.New("a bug in /home/urnd")), "The registry failed", false},
	}
	begin := func(t *testing.T) *scene {
		t.Helper()
		s := &scene{failure: new(atomic.Pointer[error])}
		var config admin.Config
		s.site = newSiteOf(t, func(c *service.Config) {
			c.Registry = registryOn(c, failing{c.Registry.Store(), s.failure}, time.Now)
			c.Jobs = jobs.New(jobs.Config{
				Registry: c.Registry, Directory: filepath.Join(t.TempDir(), "jobs"),
				MaxBody: 1 << 30, Log: slog.New(slog.DiscardHandler),
			})
		}, func(c *admin.Config) {
			locked(c)
			config = *c
		})
		s.restart = func() {
			config.Sessions = session.New(time.Now)
			s.site.Handler = admin.New(config)
		}
		s.site.ask("PUT "+of(names, "urn:nbn:fi:a"), `{"targets":[{"uri":"https://a.example/"}]}`,
			"Authorization: Bearer "+adminToken)
		_, secret, err := token.Create(t.Context(), s.site.registry, registry.Actor{Name: "root", Role: registry.Admin},
			token.Token{Name: "anna", Role: registry.Admin})
		if err != nil {
			t.Fatal(err)
		}
		s.browser, s.secret = newBrowser(s.site, here), secret
		s.logIn(t, secret, "/registry/names")
		return s
	}
	for _, form := range editorForms() {
		for _, tt := range cases {
			t.Run(form.name+", "+tt.name, func(t *testing.T) {
				t.Parallel()
				s := begin(t)
				fields, action := s.get(form.at).form(t)
				for name, values := range form.typed {
					fields[name] = values
				}
				tt.happen(s)
				p := page{s.open(action, fields), action}
				if p.Code < 400 || !strings.Contains(p.text(), tt.expect) ||
					strings.Contains(p.Body.String(), "/home") {
					t.Fatalf("%d, and not %q: %.3000s", p.Code, tt.expect, p.text())
				}
				if s.failure.Store(nil); tt.logsIn {
					p = s.press(t, p, "", "token="+s.secret)
				}
				if p.Code >= 500 && tt.logsIn || strings.Contains(p.Body.String(), "<i>ä") {
					t.Fatalf("%d: %.3000s", p.Code, p.Body)
				}
				back := formWith(p, form.typed)
				if back == nil {
					t.Fatalf("the input was lost: %.5000s", p.Body)
				}
				back.Set("do", form.typed.Get("do"))
				if again := s.open(action, back); again.Code >= 400 {
					t.Errorf("it is not taken when it is sent again: %d, %.3000s", again.Code,
						page{again, action}.text())
				}
			})
		}
	}
}

// formWith returns the fields of a form of a page that contains the input, without buttons; nil for none.
func formWith(p page, typed url.Values) url.Values {
	for _, form := range p.parsed().All("form", "method=post") {
		fields, has := form.Fields(), true
		for name, values := range typed {
			if name != "do" && !slices.Equal(fields[name], values) {
				has = false
			}
		}
		if has {
			return fields
		}
	}
	return nil
}
