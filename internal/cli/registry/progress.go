package registry

import (
	"io"
	"log/slog"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// importProgress shows how far an import is: as a bar on a terminal, and in lines elsewhere.
type importProgress struct {
	w    io.Writer
	file string
	size int64 // of the file, -1 if it is not known

	stage bulk.Stage
	bar   *progressbar.ProgressBar // on a terminal
	log   *slog.Logger             // elsewhere
	due   time.Time                // when the next line is
	begun time.Time                // the stage
}

// importLineEvery is how often there is a line.
const importLineEvery = 10 * time.Second

// importBarAfter is when a bar is first shown: a rate of less time than that would be a wild one.
const importBarAfter = 200 * time.Millisecond

func newImportProgress(w io.Writer, file string, size int64) *importProgress {
	p := &importProgress{w: w, file: file, size: size, begun: time.Now(), due: time.Now().Add(importLineEvery)}
	if cli.IsTerminal(w) {
		p.bar = p.newBar("reading "+file, size, progressbar.OptionShowBytes(true))
	} else {
		p.log = slog.New(slog.NewTextHandler(w, nil))
	}
	return p
}

func (p *importProgress) newBar(what string, most int64, options ...progressbar.Option) *progressbar.ProgressBar {
	return progressbar.NewOptions64(most, append([]progressbar.Option{
		progressbar.OptionSetWriter(p.w), progressbar.OptionSetDescription(what), progressbar.OptionSetWidth(20),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
	}, options...)...)
}

// show implements bulk.Import.Progress.
func (p *importProgress) show(now bulk.Progress) {
	if now.Stage != p.stage {
		p.stage, p.begun = now.Stage, time.Now()
		if p.bar != nil {
			_ = p.bar.Finish() // it is only shown
			p.bar = p.newBar("writing "+p.file, now.Total,
				progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("lines"))
		}
	}
	done, total := now.Octets, p.size
	if now.Stage == bulk.Writing {
		done, total = now.Done, now.Total
	}
	at := time.Now()
	if p.bar != nil {
		if at.Sub(p.begun) >= importBarAfter {
			_ = p.bar.Set64(done) // it is only shown
		}
		return
	}
	if at.Before(p.due) {
		return
	}
	p.due = at.Add(importLineEvery)
	what := "reading the names"
	if now.Stage == bulk.Writing {
		what = "writing the names"
	}
	attributes := []any{"file", p.file, "lines", now.Lines, "rejected", now.Rejected}
	if now.Stage == bulk.Writing {
		attributes = append(attributes, "written", now.Done, "per_second", int64(float64(now.Done)/at.Sub(p.begun).Seconds()))
	}
	if total > 0 && done > 0 {
		left := time.Duration(float64(at.Sub(p.begun)) * float64(total-done) / float64(done))
		attributes = append(attributes, "left", left.Round(time.Second).String())
	}
	p.log.Info(what, attributes...)
}

// end removes the bar.
func (p *importProgress) end() {
	if p.bar != nil {
		_ = p.bar.Finish() // it is only shown
	}
}
