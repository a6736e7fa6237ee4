package disk

import (
	"fmt"
	"io"
	"net"
	"testing"
)

func sizes() []int { return []int{1 << 10, 64 << 10, 1 << 20} }

func newBenchStage(b *testing.B, size int) (*stage, *Object) {
	s := newStage(b, 4<<30)
	s.run(b)
	return s, mustPut(b, s.Store, "k", string(body(1, 500)), body(2, size))
}

func BenchmarkGet(b *testing.B) {
	s, _ := newBenchStage(b, 1024)
	for b.Loop() {
		if len(s.Get("k")) != 1 {
			b.Fatal("a miss")
		}
	}
}

func BenchmarkMiss(b *testing.B) {
	s, _ := newBenchStage(b, 1024)
	for b.Loop() {
		if len(s.Get("other")) != 0 {
			b.Fatal("a hit")
		}
	}
}

func BenchmarkGetAndRead(b *testing.B) {
	for _, size := range sizes() {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s, _ := newBenchStage(b, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			p := make([]byte, 32<<10)
			for b.Loop() {
				r, err := s.Get("k")[0].Open(0, -1)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = r.Read(p)
				}
				r.Close()
			}
		})
	}
}

// BenchmarkGetAndSend also sends the body to a TCP connection.
func BenchmarkGetAndSend(b *testing.B) {
	for _, size := range sizes() {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s, _ := newBenchStage(b, size)
			conn := drain(b)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				r, err := s.Get("k")[0].Open(0, -1)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(conn, r); n != int64(size) || err != nil {
					b.Fatal(n, err)
				}
				r.Close()
			}
		})
	}
}

// drain returns a connection to a peer that reads and discards everything.
func drain(b *testing.B) net.Conn {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		peer, err := listener.Accept()
		if err != nil {
			return
		}
		defer peer.Close()
		_, _ = io.Copy(io.Discard, peer)
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close(); listener.Close(); <-done })
	return conn
}

// BenchmarkVerify measures the first read after a start, which verifies the body.
func BenchmarkVerify(b *testing.B) {
	for _, size := range sizes() {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s, o := newBenchStage(b, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				s.index.shard(o.ref.digest).at(o.ref).verified = noStamp
				if _, err := read(o, 0, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, size := range sizes() {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			s, _ := newBenchStage(b, size)
			content := body(3, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				o, err := put(s.Store, key(i), content[:min(size, 500)], content)
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				_ = s.Remove(o)
				b.StartTimer()
			}
		})
	}
}

func BenchmarkReplace(b *testing.B) {
	s, o := newBenchStage(b, 1<<20)
	head := body(4, 500)
	for b.Loop() {
		if _, err := s.Replace(o, head); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvictionChoice(b *testing.B) {
	var x index
	for i := range 1_000_000 {
		x.add(entry{name: name{digest: digestNumber(i), id: uint64(i), length: 5000}})
	}
	for b.Loop() {
		x.oldest()
	}
}
