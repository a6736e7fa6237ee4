package adversary

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/urnd/urnd/internal/testserver"
)

// visitor is a browser that requests pages and is logged in to the admin interface.
type visitor struct {
	*stage
	once sync.Once
	session
	err error
}

// session is a cookie and the matching form field.
type session struct{ cookie, csrf string }

// accept is the Accept field of browsers.
const accept = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

// send submits a form with a hostile text.
func (v *visitor) send(ctx context.Context, f form, text hostileText) error {
	target, body, fields := f.with(text)
	fields = append(fields, accept)
	address, method := v.service, http.MethodGet
	if f.admin {
		session, err := v.logIn(ctx)
		if err != nil {
			return fmt.Errorf("logging in: %w", err)
		}
		address = v.admin
		fields = append(fields, "Cookie: "+session.cookie)
		if body != "" {
			body += "&csrf=" + url.QueryEscape(session.csrf)
		}
	}
	if f.body != "" {
		method = http.MethodPost
		fields = append(fields, "Content-Type: application/x-www-form-urlencoded")
	}
	got, err := ask(ctx, address, friend, method, target, body, fields...)
	if err != nil {
		return err
	}
	if strings.HasPrefix(target, "/registry/import") && got.status == http.StatusServiceUnavailable {
		return nil // a limited number of files is read at a time, and others are in progress
	}
	return isSafe(got, f.isList)
}

// logIn begins a session once.
func (v *visitor) logIn(ctx context.Context) (session, error) {
	v.once.Do(func() {
		before, err := v.open(ctx, "")
		if err != nil {
			v.err = err
			return
		}
		got, err := ask(ctx, v.admin, friend, http.MethodPost, "/login",
			url.Values{"csrf": {before.csrf}, "token": {adminToken}}.Encode(),
			"Cookie: "+before.cookie, "Content-Type: application/x-www-form-urlencoded", accept)
		if err != nil || got.status != http.StatusSeeOther {
			v.err = errors.Join(err, fmt.Errorf("it is answered %d: %.300q", got.status, got.body))
			return
		}
		v.session, v.err = v.open(ctx, cookieOf(got))
	})
	return v.session, v.err
}

// open requests the login page with a cookie, "" for none, and returns the session of its form.
func (v *visitor) open(ctx context.Context, cookie string) (session, error) {
	got, err := ask(ctx, v.admin, friend, http.MethodGet, "/login", "", "Cookie: "+cookie, accept)
	if err != nil {
		return session{}, err
	}
	// Against cross-site request forgery.
	field := testserver.ParseHTML(got.body).First("input", "name=csrf").Attr("value")
	if field == "" {
		return session{}, fmt.Errorf("the page to log in has no form: %d %.300q", got.status, got.body)
	}
	if cookie == "" {
		cookie = cookieOf(got)
	}
	return session{cookie, field}, nil
}

// cookieOf returns the cookie set by a response.
func cookieOf(got reply) string {
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	return cookie
}

// forgeries are forms of other sites: a POST to the admin interface is rejected without the field of its own
// pages, and with the field of another session.
func (v *visitor) forgeries() (all []payload) {
	for _, f := range adminForms() {
		if f.body == "" {
			continue
		}
		target, body, _ := f.with(hostileText{text: "a"})
		for name, change := range map[string]func(s session) (csrf string, fields []string){
			"without its field":          func(session) (string, []string) { return "", nil },
			"with a field that is wrong": func(session) (string, []string) { return "evil", nil },
			"with the field of another cookie": func(s session) (string, []string) {
				return s.csrf, []string{"Cookie: other=1"}
			},
			"of another site": func(s session) (string, []string) {
				return s.csrf, []string{"Cookie: " + s.cookie, "Origin: http://evil.example"}
			},
			"of a frame of another site": func(s session) (string, []string) {
				return s.csrf, []string{"Cookie: " + s.cookie, "Sec-Fetch-Site: cross-site"}
			},
		} {
			all = append(all, payload{
				family: "forged forms", name: f.name + " " + name, section: "RFC 6749 section 10.12",
				shows: target + " | " + body,
				play: func(ctx context.Context) error {
					s, err := v.logIn(ctx)
					if err != nil {
						return err
					}
					csrf, fields := change(s)
					if fields == nil {
						fields = []string{"Cookie: " + s.cookie}
					}
					fields = append(fields, "Content-Type: application/x-www-form-urlencoded", accept)
					got, err := ask(ctx, v.admin, friend, http.MethodPost, target,
						body+"&csrf="+url.QueryEscape(csrf), fields...)
					// The other cookie is not logged in.
					refused := got.status == http.StatusForbidden || got.status == http.StatusUnauthorized
					if err == nil && !refused {
						err = fmt.Errorf("it is answered %d: %.300q", got.status, got.body)
					}
					return err
				},
			})
		}
	}
	return all
}
