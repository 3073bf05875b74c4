package process

import (
	"testing"
	"time"

	"locklab/simulator/internal/table"
)

// BenchmarkSwitch is the cost of passing a reply to a parked process and running it to
// its next operation, without a table, a server or go-redis.
func BenchmarkSwitch(b *testing.B) {
	var p *Process
	p = New(1, func() {
		for {
			p.code.Clock().Sleep(time.Second)
		}
	}, nil, table.NewRoom())
	p.Use(noLibrary{})
	defer p.Close()
	if _, err := p.rerun(0); err != nil {
		b.Fatal(err)
	}
	if err := p.code.live.observe(Observation{Kind: Started}); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := p.code.live.observe(Observation{Kind: Slept}); err != nil {
			b.Fatal(err)
		}
	}
}

// noLibrary is the Library of a process that uses no server.
type noLibrary struct{}

func (noLibrary) Start(uint32)   {}
func (noLibrary) Stop()          {}
func (noLibrary) Memory() uint32 { return 0 }
func (noLibrary) Idle() bool     { return true }
func (noLibrary) Close()         {}
