package lint

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// sample returns a name that an entry resolves: its own, or one below its prefix.
func sample(e registry.Entry) string {
	if e.Kind == registry.KindPrefix {
		return e.Name + "0"
	}
	return e.Name
}

// checkTargets checks the targets of an active entry without alias.
func (l *linter) checkTargets(s *subject) {
	e := s.entry
	if e.Status != registry.Active || e.Alias != "" {
		return
	}
	over := 0
	for _, t := range e.Targets {
		l.checkTarget(e, t)
		if !t.Until.IsZero() && !l.now.Before(t.Until) {
			over++
		}
	}
	switch {
	case len(e.Targets) == 0 && e.Kind == registry.KindName:
		l.add(e, Warning, ruleNoTarget, "active without a target: reserve it, or add a target")
	case over > 0 && over == len(e.Targets):
		l.add(e, Error, ruleExpired, "all targets have expired")
	case over > 0:
		l.add(e, Hint, ruleExpired, fmt.Sprintf("%d of %d targets have expired", over, len(e.Targets)))
	}
}

func (l *linter) checkTarget(e registry.Entry, t registry.Target) {
	location, err := t.Location(e.Key, sample(e))
	if err != nil {
		l.add(e, Error, ruleTarget, fmt.Sprintf("the target %s: %v", t.URI, err))
		return
	}
	u, err := uri.Parse(location)
	if err == nil {
		err = u.Check()
	}
	if err != nil {
		l.add(e, Error, ruleTarget, fmt.Sprintf("the target %s: %s", t.URI, sayOf(err)))
		return
	}
	if err := resolver.CheckScheme(u); err != nil {
		l.add(e, Error, ruleScheme, fmt.Sprintf("the target %s: %s", t.URI, whyNot(err)))
		return
	}
	if normal := u.Normalize(); normal != u && !strings.Contains(t.URI, "{") {
		shown := strings.TrimSuffix(normal.String(), strings.TrimPrefix(sample(e), e.Name))
		l.add(e, Warning, ruleNormal, fmt.Sprintf("the target %s is not normalized: %s", t.URI, shown))
	}
	if _, has := u.Userinfo(); has && !strings.EqualFold(u.Scheme(), "mailto") {
		l.add(e, Warning, ruleUserinfo, "the target has a user name or password, which is public")
	}
	if strings.EqualFold(u.Scheme(), "http") {
		l.add(e, Hint, ruleHTTP,
			fmt.Sprintf("the target %s is unencrypted: use https if its server supports it", t.URI))
	}
}

// whyNot returns the reason of an error, without the violated rule.
func whyNot(err error) string {
	var n *resolver.Negative
	if errors.As(err, &n) {
		return n.Reason
	}
	return err.Error()
}
