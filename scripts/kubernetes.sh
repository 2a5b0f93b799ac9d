#!/usr/bin/env bash
# Renders ops/kubernetes with Kustomize and checks each object strictly against Kubernetes' own types: kubernetes.sh
set -euo pipefail
cd "$(dirname "$0")/.."
exec go -C scripts/kubernetes run . "$PWD/ops/kubernetes"
