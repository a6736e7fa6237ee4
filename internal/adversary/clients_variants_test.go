package adversary

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// withVariants returns attacks by the fields that Vary names (RFC 9111 section 4.1).
func withVariants() (all []attack) {
	const section = "RFC 9111 section 4.1"
	varies := func(names string) site { return site{fields: append([]string{"Vary: " + names}, explicit...)} }
	for _, one := range []struct{ vary, field string }{
		{"Accept-Language", "Accept-Language: evil"},
		{"Accept-Language", "Accept-Language: de,en;q=0.5, evil"},
		{"Accept-Language, X-Evil", "X-Evil: 1"},
		{"accept-language,  x-evil", "X-Evil: 1"},
		{"X-Evil", "X_Evil: 1"},
		{"Cookie", "Cookie: session=attacker"},
		{"User-Agent", "Accept: evil"},
		{"Origin", "Origin: http://evil.example"},
		{"*", "X-Evil: 1"},
		{"Host", "X-Evil: 1"},
	} {
		for _, m := range []moment{before, together} {
			s := varies(one.vary)
			s.gated = m == together
			all = append(all, attack{
				name: "Vary: " + one.vary + ", " + one.field, section: section, site: s, moment: m,
				requests: []sending{{fields: []string{one.field}}}, asks: []shape{bare, browser, logged},
			})
		}
	}
	for _, n := range []int{33, 200} {
		all = append(all, attack{
			name: fmt.Sprintf("%d variants", n), section: section, site: varies("Accept-Language"),
			asks: []shape{browser}, requests: manyVariants(n), course: keepsVariant,
		})
	}
	return all
}

// withCosts returns attacks on CPU time.
func withCosts() []attack {
	s := site{fields: append([]string{"Vary: Accept-Language"}, explicit...)}
	return []attack{{name: "60 kB of Accept-Language", section: "RFC 9111 section 4.1", site: s, course: costs}}
}

func manyVariants(n int) (all []sending) {
	for i := range n {
		all = append(all, sending{fields: []string{fmt.Sprintf("Accept-Language: evil-%d", i)}})
	}
	return all
}

// keepsVariant requests a variant in use before and after the attack: the origin receives one request for it.
func keepsVariant(ctx context.Context, d *duel) error {
	id := d.id()
	r := d.origin.on(id, d.site, d.names(d.server, id))
	defer d.origin.off(id)
	if _, err := d.victim(ctx, id, d.slack); err != nil {
		return err
	}
	c, err := d.open(ctx, attackers, 0)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if c, err = d.exchanges(ctx, c, id); err != nil {
		return err
	}
	got, err := d.victim(ctx, id, d.slack)
	if err != nil {
		return err
	}
	if got[0].failure != nil {
		return got[0].failure
	}
	if all, _, _ := r.seen(); got[0].serial() != "1" {
		return fmt.Errorf("the variant in use is evicted: the victim got the answer to request %s of %d",
			got[0].serial(), all)
	}
	return nil
}

// costs compares the CPU time for long values of a field with that for equally long ones that Vary does not
// name.
func costs(ctx context.Context, d *duel) error {
	process := d.process
	used := func(field string) (time.Duration, error) {
		id := d.id()
		d.origin.on(id, d.site, d.names(d.server, id))
		defer d.origin.off(id)
		alone := *d
		alone.requests = manyVariants(32)
		c, err := d.open(ctx, attackers, 0)
		if err != nil {
			return 0, err
		}
		defer func() { _ = c.Close() }()
		if c, err = alone.exchanges(ctx, c, id); err != nil {
			return 0, err
		}
		alone.requests = nil
		for i := range 20 {
			value := strings.Repeat(fmt.Sprintf("a-%d , ", i), 60_000/7)
			alone.requests = append(alone.requests, sending{fields: []string{field + ": " + value}})
		}
		began, err := process.processor()
		if err != nil {
			return 0, err
		}
		if c, err = alone.exchanges(ctx, c, id); err != nil {
			return 0, err
		}
		ended, err := process.processor()
		return ended - began, err
	}
	plain, err1 := used("Accept-Charset")
	named, err2 := used("Accept-Language")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	// The CPU clock of processes has a resolution of 10 ms.
	if most := 3*plain + 200*time.Millisecond; named > most {
		return fmt.Errorf("20 requests take %s of the processor, and %s where Vary does not name the field",
			named, plain)
	}
	return nil
}
