package helper

import (
	"fmt"
	"slices"
	"time"
)

// outage is a period in which no process is started, or only one as a trial, because too many have died. The
// zero value is none.
type outage struct {
	since time.Time
	until time.Time     // the time of the trial
	pause time.Duration // before the trial
	why   string        // how the last process died
	trial *process      // nil before it runs
}

func (o *outage) empty() bool { return o.since.IsZero() }

// outageText explains why no process is started; p.mu is held.
func (p *Pool) outageText() string {
	return fmt.Sprintf("processes of %s (%s) exited too often: %s; next start after %s",
		p.config.Name, p.config.Command[0], p.outage.why, p.outage.until.UTC().Format(time.RFC3339))
}

// grow starts processes for the queued questions; p.mu is held. During an outage it starts one, when the trial is due.
func (p *Pool) grow() {
	if p.closed {
		return
	}
	needed := (len(p.queue) + p.config.channels() - 1) / p.config.channels()
	n := min(needed-p.starting, p.config.Processes-len(p.processes)-p.starting)
	if !p.outage.empty() {
		if p.config.Now().Before(p.outage.until) || p.outage.trial != nil || p.starting > 0 {
			return
		}
		n = min(n, 1)
	}
	for range n {
		p.starting++
		p.running.Go(p.run)
	}
}

// run starts a process, and serves it to its end.
func (p *Pool) run() {
	one, err := p.launch()
	p.mu.Lock()
	p.starting--
	if err != nil {
		p.counts.Restarts++
		p.died(nil, err.Error())
		p.dispatch()
		p.mu.Unlock()
		return
	}
	if p.closed {
		one.kill()
	} else {
		p.processes = append(p.processes, one)
		if !p.outage.empty() {
			p.outage.trial = one
		}
		p.dispatch()
	}
	p.mu.Unlock()
	one.serve()
}

// remove excludes a process from new questions, and fails those that it has; p.mu is held.
func (p *Pool) remove(one *process) {
	at := slices.Index(p.processes, one)
	if at < 0 {
		return
	}
	p.processes = slices.Delete(p.processes, at, at+1)
	p.failAll(one, ErrExited)
	if p.closed {
		return
	}
	p.counts.Restarts++
	p.died(one, "it exited")
	p.dispatch()
}

// died records the end of a process, nil for one that could not be started; p.mu is held. The end of a
// process that has answered is not counted: a question that kills it must not block others.
func (p *Pool) died(one *process, why string) {
	if one != nil && one.answers > 0 {
		return
	}
	now := p.config.Now()
	p.deaths = slices.DeleteFunc(p.deaths, func(at time.Time) bool { return now.Sub(at) >= deathWindow })
	p.deaths = append(p.deaths, now)
	failed := !p.outage.empty() && one == p.outage.trial && !now.Before(p.outage.until)
	if !failed && (!p.outage.empty() || len(p.deaths) < max(minDeaths, p.config.Processes)) {
		return
	}
	if p.outage.empty() {
		p.outage.since = now
	}
	p.outage.pause = min(max(2*p.outage.pause, p.config.Restart), maxRestart)
	p.outage.until, p.outage.trial, p.outage.why = now.Add(p.outage.pause), nil, why
	p.deaths = nil
	p.config.Log.Error("helper processes exit too often", "helper", p.config.Name, "reason", why, "retry_at",
		p.outage.until)
}

// recovered ends an outage if the trial has answered; p.mu is held.
func (p *Pool) recovered(one *process) {
	if p.outage.trial == one {
		p.outage = outage{}
		p.deaths = nil
		p.config.Log.Info("helper recovered", "helper", p.config.Name)
	}
}

// ended logs the end of a process.
func (p *Pool) ended(one *process) {
	one.ending.Lock()
	why := fmt.Sprintf("%v; %s", one.reason, one.cmd.ProcessState)
	if one.standardError != "" {
		why += fmt.Sprintf("; its last message: %q", one.standardError)
	}
	one.ending.Unlock()
	p.mu.Lock()
	closed := p.closed
	if !p.outage.empty() && one.answers == 0 {
		p.outage.why = why
	}
	p.mu.Unlock()
	if closed {
		return
	}
	if log, ok := p.lines.allow("pid", one.cmd.Process.Pid); ok {
		log.Warn("helper process exited", "reason", why)
	}
}
