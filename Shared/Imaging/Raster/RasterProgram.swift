internal import CRaster

/// The steps that compute bands and store them, in one pass over the rows.
struct RasterProgram {
    private var steps: [hg_step] = []
    /// How many steps are still to read a band.
    private var uses: [ObjectIdentifier: Int] = [:]
    private var registers: [ObjectIdentifier: Int32] = [:]
    private var free: [Int32] = []
    private var count: Int32 = 0
    private let targets: [(band: Band, plane: hg_plane)]

    /// - Parameter targets: The bands, and where they are stored; the planes are of one size.
    init(_ targets: [(band: Band, plane: hg_plane)]) {
        self.targets = targets
        for (band, _) in targets { countUses(of: band) }
        for (band, plane) in targets {
            compute(band)
            var store = hg_step()
            store.operation = HG_STORE
            store.left = registers[ObjectIdentifier(band)] ?? 0
            store.plane = plane
            steps.append(store)
            release(band)
        }
        precondition(count <= HG_RASTER_REGISTERS, "the program needs too many registers")
    }

    /// Computes all rows; between some of them the work can be cancelled.
    func run(_ size: PixelSize, watch: CancellationWatch) throws(ImagingError) {
        let rowsAtOnce = 64
        // The bands own the planes and tables that the steps point to.
        defer { withExtendedLifetime(targets) {} }
        for first in stride(from: 0, to: size.height, by: rowsAtOnce) {
            try watch.checkpoint()
            let end = min(first + rowsAtOnce, size.height)
            hg_raster_run(steps, Int32(steps.count), Int32(size.width), Int32(first), Int32(end))
        }
    }

    private mutating func countUses(of band: Band) {
        let isNew = uses[ObjectIdentifier(band)] == nil
        uses[ObjectIdentifier(band), default: 0] += 1
        if isNew { for input in band.inputs { countUses(of: input) } }
    }

    private mutating func compute(_ band: Band) {
        guard registers[ObjectIdentifier(band)] == nil else { return }
        for input in band.inputs { compute(input) }
        var step = band.step
        let read = band.inputs.map { registers[ObjectIdentifier($0)] ?? 0 }
        if let left = read.first { step.left = left }
        if read.count > 1 { step.right = read[1] }
        if read.count > 2 { step.mask = read[2] }
        for input in band.inputs { release(input) }
        // A register that was read for the last time may be the result's.
        step.out = free.popLast() ?? count
        count = max(count, step.out + 1)
        registers[ObjectIdentifier(band)] = step.out
        steps.append(step)
    }

    private mutating func release(_ band: Band) {
        let left = (uses[ObjectIdentifier(band)] ?? 1) - 1
        uses[ObjectIdentifier(band)] = left
        if left == 0, let register = registers[ObjectIdentifier(band)] { free.append(register) }
    }
}
