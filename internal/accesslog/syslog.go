package accesslog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// Syslog is a syslog server. All fields are required except Host.
type Syslog struct {
	// Network is "unixgram", "udp" or "tcp". Messages to a local socket have the format of syslog(3), which
	// journald and rsyslog expect there (RFC 3164 without host). Other messages have the format of RFC 5424,
	// transmitted according to RFC 5426 (UDP) or with the octet counting of RFC 6587 (TCP).
	Network string
	Address string // host and port, or the path of a socket
	Host    string // name of this host, "" if unknown
	PID     int
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
	// Deadline returns the time after a duration according to the system clock, for connection deadlines.
	Deadline func(after time.Duration) time.Time
}

const (
	// syslogTime limits a connection attempt and a write.
	syslogTime = 2 * time.Second
	// syslogPause is the delay between a failed connection attempt and the next one. Lines are dropped without
	// waiting meanwhile.
	syslogPause = time.Second
	// syslogPriority is local0.info (RFC 5424 section 6.2.1).
	syslogPriority = "<134>"
	// maxDatagram limits a line in a datagram, in bytes; longer lines are truncated. The maximum of a UDP
	// datagram is 65,507 bytes.
	maxDatagram = 60_000

	syslogName = "urnd"
)

// errPause is the error for lines that are dropped during syslogPause.
var errPause = errors.New("syslog server unreachable, retrying in 1s")

// syslogWriter sends each line as a message. It is not safe for concurrent use.
type syslogWriter struct {
	server Syslog
	now    func() time.Time

	conn   net.Conn  // nil if not connected
	failed time.Time // time of the last failed connection attempt; zero after a successful one
	cause  error     // error at failed
	buffer []byte
}

// Write implements io.Writer for complete lines. It returns the number of bytes sent, which are complete lines.
func (w *syslogWriter) Write(lines []byte) (sent int, err error) {
	isStream := w.server.Network == "tcp"
	for sent < len(lines) {
		n := len(lines) - sent
		if !isStream {
			n = bytes.IndexByte(lines[sent:], '\n') + 1
		}
		if n == 0 { // rest of a partly sent line, which is in no message
			break
		}
		w.buffer = w.buffer[:0]
		for line := range bytes.Lines(lines[sent : sent+n]) {
			w.buffer = w.appendMessage(w.buffer, bytes.TrimSuffix(line, []byte{'\n'}))
		}
		if err := w.send(); err != nil {
			return sent, err
		}
		sent += n
	}
	return sent, nil
}

// send sends the buffer. If an existing connection fails, it retries once with a new one, since the server may
// have restarted.
func (w *syslogWriter) send() error {
	for {
		isNew := w.conn == nil
		if err := w.connect(); err != nil {
			return err
		}
		err := w.conn.SetWriteDeadline(w.server.Deadline(syslogTime))
		if err == nil {
			_, err = w.conn.Write(w.buffer)
		}
		if err == nil {
			return nil
		}
		_ = w.conn.Close()
		w.conn = nil
		if isNew || errors.Is(err, os.ErrDeadlineExceeded) { // Otherwise a server that hangs would delay each message.
			w.failed, w.cause = w.now(), err
			return fmt.Errorf("sending to the syslog server: %w", err)
		}
	}
}

// connect connects unless there is a connection.
func (w *syslogWriter) connect() error {
	if w.conn != nil {
		return nil
	}
	if !w.failed.IsZero() && w.now().Sub(w.failed) < syslogPause {
		return fmt.Errorf("%w: %w", errPause, w.cause)
	}
	ctx, cancel := context.WithTimeout(context.Background(), syslogTime)
	defer cancel()
	conn, err := w.server.Dial(ctx, w.server.Network, w.server.Address)
	if err != nil {
		w.failed, w.cause = w.now(), err
		return fmt.Errorf("connecting to the syslog server: %w", err)
	}
	w.conn, w.failed = conn, time.Time{}
	return nil
}

// appendMessage appends a message that contains line, framed for the network.
func (w *syslogWriter) appendMessage(b, line []byte) []byte {
	at := w.now()
	if w.server.Network == "unixgram" {
		b = append(b, syslogPriority...)
		b = at.AppendFormat(b, time.Stamp)
		b = append(b, " "+syslogName+"["...)
		b = strconv.AppendInt(b, int64(w.server.PID), 10)
		b = append(b, "]: "...)
		return append(b, line[:min(len(line), maxDatagram)]...)
	}
	if w.server.Network != "tcp" {
		return append(w.appendHeader(b, at), line[:min(len(line), maxDatagram)]...)
	}
	var scratch [256]byte
	header := w.appendHeader(scratch[:0], at)
	b = strconv.AppendInt(b, int64(len(header)+len(line)), 10)
	b = append(append(b, ' '), header...)
	return append(b, line...)
}

// appendHeader appends the header of RFC 5424 section 6.2 without structured data.
func (w *syslogWriter) appendHeader(b []byte, at time.Time) []byte {
	b = append(b, syslogPriority+"1 "...)
	b = at.UTC().AppendFormat(b, "2006-01-02T15:04:05.000000Z07:00 ")
	b = append(b, w.host()...)
	b = append(b, " "+syslogName+" "...)
	b = strconv.AppendInt(b, int64(w.server.PID), 10)
	return append(b, " access - "...)
}

// host returns the name of this host, or "-" if it is not 1 to 255 printable characters as syslog requires.
func (w *syslogWriter) host() string {
	const most = 255
	host := w.server.Host
	if host == "" || len(host) > most || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "-"
	}
	return host
}

// Close closes the connection.
func (w *syslogWriter) Close() error {
	if w.conn == nil {
		return nil
	}
	return w.conn.Close()
}
