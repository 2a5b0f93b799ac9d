// Command testsum reads the event stream of go test -json, shows what matters of it while it comes in, and ends with one
// line: "N passed, N failed". Its exit code is 1 if anything failed or nothing ran.
//
// It owns the counting and the wording of a test run; which tests run is the business of scripts/test.sh.
//
//	go test -json ./... | go run ./scripts/testsum -passed 3 -failed 0
//
// The flags add checks that were made before, such as formatting.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	passed := flag.Int("passed", 0, "checks made before that passed")
	failed := flag.Int("failed", 0, "checks made before that failed")
	quiet := flag.Duration("quiet", 30*time.Second, "tell what is still running after so long without a line")
	vectors := flag.String("secrets", "", "JSON file of test vectors whose mnemonics, seeds and private keys no test may print")
	flag.Parse()
	s := newSummary(os.Stdout, *passed, *failed)
	if *vectors != "" {
		known, err := readSecrets(*vectors)
		if err != nil {
			fmt.Fprintln(os.Stderr, "testsum:", err)
			os.Exit(1)
		}
		s.secrets = known
	}
	if err := follow(os.Stdin, s, *quiet); err != nil {
		fmt.Fprintln(os.Stdout, "reading the test run:", err)
		s.failed++
	}
	if !s.finish() {
		os.Exit(1)
	}
}

// follow feeds the summary until the stream ends, and speaks up when it has been silent for long.
func follow(stream io.Reader, s *summary, quiet time.Duration) error {
	lines := make(chan []byte) // unbuffered: the reader is no faster than the summary
	ended := make(chan error, 1)
	go func() {
		defer close(lines)
		ended <- read(stream, lines)
	}()
	idle := time.NewTimer(quiet)
	for {
		select {
		case line, more := <-lines:
			if !more {
				return <-ended
			}
			if s.line(line) {
				idle.Reset(quiet)
			}
		case <-idle.C:
			s.stillRunning(time.Now())
			idle.Reset(quiet)
		}
	}
}

// read hands over the lines of stream, however long they are.
func read(stream io.Reader, lines chan<- []byte) error {
	reader := bufio.NewReader(stream)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 0 {
			lines <- line
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
