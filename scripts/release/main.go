// Command release makes those parts of a release that want more than a shell: what a binary is made
// of, and the container image.
//
//	release sbom --version V BINARY       CycloneDX (JSON) of the modules that the binary links
//	release licences BINARY               the licences of the same modules, in full
//	release image --version V ... OUT     an OCI image of one root file system for each platform
//	release unpack IMAGE PLATFORM FOLDER  the files of such an image
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("one of sbom, licences, image, unpack is wanted")
	}
	switch args[0] {
	case "sbom":
		return sbomCommand(args[1:], os.Stdout)
	case "licences":
		return licencesCommand(args[1:], os.Stdout)
	case "image":
		return imageCommand(args[1:])
	case "unpack":
		return unpackCommand(args[1:])
	}
	return fmt.Errorf("unknown command %q: sbom, licences, image, unpack", args[0])
}
