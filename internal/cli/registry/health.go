package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry/health"
)

// healthFlags are the flags of urnd registry health.
type healthFlags struct {
	all, check, asJSON bool
	contact            string
	wiring             Wiring
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
	cmd.Flags().BoolVar(&h.asJSON, "json", false, "print a JSON document for each target, one a line")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p := cli.StartProgress(cmd, "reading what is known of targets")
		defer p.End()
		s, err := f.open(cmd.Context())
		if err != nil {
			return p.Interrupted(err, "nothing was checked; the same command begins anew")
		}
		defer s.close()
		prefix := strings.Join(args, "")
		if h.check {
			return usageOf(h.checkNow(cmd, p, s, prefix))
		}
		return usageOf(h.show(cmd, p, s, prefix))
	}
	return cmd
}

// show prints what is known.
func (h *healthFlags) show(cmd *cobra.Command, p *cli.Progress, s *session, prefix string) error {
	report := healthReport{w: p.Over(cmd.OutOrStdout()), asJSON: h.asJSON}
	if err := s.Targets(cmd.Context(), s.actor, prefix, h.all, report.print); err != nil {
		return p.Interrupted(err, "not all targets are printed, and nothing was changed; the same command begins anew")
	}
	sweep, err := s.Sweep(cmd.Context())
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "urnd: %d unhealthy; %s\n", report.unhealthy, sweepText(sweep))
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
func (h *healthFlags) checkNow(cmd *cobra.Command, p *cli.Progress, s *session, prefix string) error {
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
	report := healthReport{w: p.Over(cmd.OutOrStdout()), asJSON: h.asJSON}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	checked, last := 0, ""
	err = s.CheckTargets(ctx, s.actor, settings, prefix, func(t health.Target) error {
		checked, last = checked+1, t.Name
		p.Show(cli.Step{What: "checking targets", Done: int64(checked), More: fmt.Sprintf("up to %s, %d do not answer", t.Name, report.failing)})
		if !h.all && (t.Outcome == health.Alive || t.Outcome == health.Guarded) {
			return nil
		}
		return report.print(t)
	})
	p.End()
	fmt.Fprintf(cmd.ErrOrStderr(), "urnd: checked %d targets: %d do not answer\n", checked, report.failing)
	if err == nil && report.failing > 0 {
		return cli.ErrReported
	}
	if last == "" {
		return p.Interrupted(err, "nothing was checked; the same command begins anew")
	}
	return p.Interrupted(err, "what was found of targets, up to those of %s, is kept; the same command begins anew, and with PREFIX it checks a part", last)
}

// healthReport prints targets, and counts those that are not well.
type healthReport struct {
	w                  io.Writer
	asJSON             bool
	unhealthy, failing int
}

func (p *healthReport) print(t health.Target) error {
	if t.State == health.Unhealthy {
		p.unhealthy++
	}
	if t.Outcome == health.Gone || t.Outcome == health.Failing {
		p.failing++
	}
	if p.asJSON {
		return cli.PrintJSON(p.w, struct {
			Name string `json:"name"`
			health.Target
		}{t.Name, t})
	}
	state, fault := string(t.State), t.Error
	if state == "" {
		state = "unchecked"
	}
	if fault == "" {
		fault = "-"
	}
	_, err := fmt.Fprintf(p.w, "%s\t%s\t%s\t%s\t%s\t%s\n",
		t.Name, state, minuteText(t.Since), minuteText(t.Checked), cli.WithoutControls(fault), t.URI)
	return err
}

// minuteText returns a time in UTC, to the minute, "-" for none.
func minuteText(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04Z")
}
