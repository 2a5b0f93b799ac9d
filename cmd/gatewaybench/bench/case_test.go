package bench

import (
	"context"
	"os"
	"testing"
)

// TestMain lets this test binary be the process of a part, as the program is outside tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "part" {
		if err := RunPart(context.Background(), tinyCases(), parsePart(os.Args[2:]), os.Stdout, os.Stderr); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// parsePart undoes PartConfig.arguments.
func parsePart(args []string) PartConfig {
	config := PartConfig{Case: args[0], Side: args[1], Scale: 1}
	into := map[string]*string{"--dir": &config.Dir, "--data": &config.Data, "--stream": &config.Stream, "--argument": &config.Argument, "--profile": &config.Profile}
	for i := 2; i < len(args); i += 2 {
		if field := into[args[i]]; field != nil {
			*field = args[i+1]
		}
	}
	return config
}
