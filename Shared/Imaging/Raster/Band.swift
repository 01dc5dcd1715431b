internal import CRaster

/// One band of a raster: how its numbers are computed from other bands, or are read from a plane.
final class Band {
    /// The operation, without its registers and pointers.
    let step: hg_step
    let inputs: [Band]
    let plane: Plane?
    let table: LookupTable?
    /// Whether all numbers are whole and from 0 to 255.
    let isBytes: Bool

    init(
        _ operation: hg_operation, _ inputs: [Band] = [], a: Double = 0, b: Double = 0, plane: Plane? = nil, table: LookupTable? = nil,
        isBytes: Bool = false, dx: Int = 0, dy: Int = 0
    ) {
        var step = hg_step()
        step.operation = operation
        (step.a, step.b) = (Float(a), Float(b))
        (step.dx, step.dy) = (Int32(dx), Int32(dy))
        if let plane { step.plane = plane.layout }
        if let table {
            step.table = UnsafePointer(table.entries.baseAddress)
            step.last = Int32(table.entries.count - 1)
        }
        self.step = step
        self.inputs = inputs
        self.plane = plane
        self.table = table
        self.isBytes = isBytes
    }

    /// The numbers of a plane, displaced by whole pixels; its edges are repeated.
    convenience init(_ plane: Plane, dx: Int = 0, dy: Int = 0) {
        self.init(HG_LOAD, plane: plane, isBytes: plane.isBytes, dx: dx, dy: dy)
    }

    /// The plane that this band is, if its numbers are in memory as they are.
    var stored: Plane? { step.operation == HG_LOAD && step.dx == 0 && step.dy == 0 ? plane : nil }

    /// The plane of a band that was kept.
    ///
    /// - Precondition: the numbers are in memory; numbers that are not computed yet cannot be read at an arbitrary place.
    var keptPlane: Plane {
        guard let stored else { preconditionFailure("a picture is read at other places before it is kept") }
        return stored
    }

    /// Rounded to levels of 0 to 255.
    func rounded() -> Band { isBytes ? self : Band(HG_ROUND, [self], isBytes: true) }
}

/// The entries of a tabulated function, at an address that does not change.
final class LookupTable {
    let entries: UnsafeMutableBufferPointer<Float>

    init(_ values: some Collection<Float>) {
        entries = .allocate(capacity: values.count)
        _ = entries.initialize(from: values)
    }

    deinit { entries.deallocate() }
}
