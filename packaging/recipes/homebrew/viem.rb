class Viem < Formula
  desc "Process mapping, graph partitioning and quadratic assignment"
  homepage "@URL@"
  url "@URL@/viem-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on "rust" => :build

  def install
    system "cargo", "build", "--locked", "--release", "-p", "viem-cli"
    system "packaging/install-programs", "target/release", prefix
    system "make", "-C", "bindings/c", "install", "PREFIX=#{prefix}"
  end

  test do
    (testpath/"ring.graph").write "4 4\n2 4\n1 3\n2 4\n1 3\n"
    system bin/"viem", "map", "ring.graph", "-m", "2:2", "-d", "1:10", "-o", "permutation"
    assert_equal 4, (testpath/"permutation").read.lines.count
  end
end
