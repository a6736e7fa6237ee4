package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry/health"
)

// healthFlags are the flags of urnd registry health.
type healthFlags struct {
	all, check bool
	contact    string
	wiring     Wiring
	output     *cli.Output
}

func newHealth(w Wiring) *cobra.Command {
	h := healthFlags{wiring: w}
	cmd := &cobra.Command{
		Use:   "health [PREFIX]",
		Short: "Show which targets do not answer, or check them now",
		Long: `Show the targets, of names that begin with PREFIX or of all, that did not answer when they were checked: a line
for each in the order of names, with name, state, since when, last check, what was wrong, and the target,
separated by tabs. A target is

  suspect       after a failure
  unhealthy     after 3 failures in a row, over a day at least
  inaccessible  where urnd may not ask its address (access.allow_destinations)

and healthy again after one success. A running urnd checks where registry.health_interval is set. With
--check the targets are checked now, as politely, and what is found is kept; shown are those that do not
answer now. Nothing is changed in the registry but this.

The exit status is 1 if a target is unhealthy, or with --check if one does not answer.`,
		Example: `  urnd registry health
  urnd registry health urn:nbn:fi:example --all
  urnd registry health urn:nbn:fi:example --check --contact mailto:urn-service@library.example`,
		Args: cobra.MaximumNArgs(1),
	}
	f := addStore(cmd, w)
	cmd.Flags().BoolVar(&h.all, "all", false, "show healthy targets too, with the time by which they were checked")
	cmd.Flags().BoolVar(&h.check, "check", false, "check the targets now")
	cmd.Flags().StringVar(&h.contact, "contact", "", "the `URL` or mail address that the checked servers are told "+
		"(registry.health_contact)")
	h.output = cli.AddOutput(cmd, "one object for each target", cli.CSV, cli.JSON)
	return f.run(existing, "reading what is known of targets", "nothing was checked", func(ctx context.Context, s *session, args []string) error {
		table, err := h.output.Rows(s.out, "name", "state", "since", "checked", "error", "target")
		if err != nil {
			return err
		}
		report := healthReport{table: table}
		if h.check {
			return h.checkNow(ctx, s, &report, strings.Join(args, ""))
		}
		return h.show(ctx, s, &report, strings.Join(args, ""))
	})
}

// show prints what is known.
func (h *healthFlags) show(ctx context.Context, s *session, report *healthReport, prefix string) error {
	if err := s.Targets(ctx, s.actor, prefix, h.all, report.print); err != nil {
		return s.progress.Anew(err, "not all targets are printed, and nothing was changed")
	}
	sweep, err := s.Sweep(ctx)
	if err != nil {
		return err
	}
	s.say("%d unhealthy; %s", report.unhealthy, sweepText(sweep))
	if report.unhealthy > 0 {
		return cli.ErrReported
	}
	return nil
}

// sweepText says how far the checks are.
func sweepText(s health.Sweep) string {
	switch {
	case s.Started.IsZero():
		return "a running urnd has not checked anything yet"
	case !s.Ended.IsZero():
		return fmt.Sprintf("all %d names were passed between %s and %s", s.Names, minuteText(s.Started), minuteText(s.Ended))
	default:
		return fmt.Sprintf("%d of %d names were passed between %s and %s", s.Names, s.Total, minuteText(s.Started), minuteText(s.Moved))
	}
}

// checkNow checks the targets of names that begin with prefix.
func (h *healthFlags) checkNow(ctx context.Context, s *session, report *healthReport, prefix string) error {
	c := s.config
	if h.contact != "" {
		c.Registry.HealthContact = h.contact
	}
	if c.Registry.HealthContact == "" {
		return cli.Usage(errors.New("those whose servers are asked must be able to reach you: " +
			"set registry.health_contact, or use --contact"))
	}
	if err := c.Validate(); err != nil { // the contact
		return cli.Usage(err)
	}
	settings, end, err := h.wiring.Health(c, s.store)
	if err != nil {
		return err
	}
	defer end()
	p := s.progress
	checked, last := 0, ""
	err = s.CheckTargets(ctx, s.actor, settings, prefix, func(t health.Target) error {
		checked, last = checked+1, t.Name
		p.Show(cli.Step{What: "checking targets", Done: int64(checked), More: fmt.Sprintf("up to %s, %d do not answer", t.Name, report.failing)})
		if !h.all && (t.Outcome == health.Alive || t.Outcome == health.Guarded) {
			return nil
		}
		return report.print(t)
	})
	s.say("checked %d targets: %d do not answer", checked, report.failing)
	if err == nil && report.failing > 0 {
		return cli.ErrReported
	}
	if last == "" {
		return err
	}
	return p.Interrupted(err, "what was found of targets, up to those of %s, is kept; the same command begins anew, and with PREFIX it checks a part", last)
}

// healthReport prints targets, and counts those that are not well.
type healthReport struct {
	table              *cli.Table
	unhealthy, failing int
}

func (p *healthReport) print(t health.Target) error {
	if t.State == health.Unhealthy {
		p.unhealthy++
	}
	if t.Outcome == health.Gone || t.Outcome == health.Failing {
		p.failing++
	}
	state, fault := string(t.State), t.Error
	if state == "" {
		state = "unchecked"
	}
	if fault == "" {
		fault = "-"
	}
	return p.table.Row(struct {
		Name string `json:"name"`
		health.Target
	}{t.Name, t}, t.Name, state, minuteText(t.Since), minuteText(t.Checked), fault, t.URI)
}

// minuteText returns a time in UTC, to the minute, "-" for none.
func minuteText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}
