internal import CLibPQ
internal import DequeModule
internal import Glibc

extension Connection {
    /// Reads the received data and handles its results, until libpq would have to wait.
    func receive() {
        let isAlive = PQconsumeInput(pq) == 1
        recordReceipt()
        takeNotifications()
        // Results that arrived before the connection broke still count.
        takeResults()
        takeNotifications()
        if !isAlive || PQstatus(pq) == CONNECTION_BAD { failFromLibrary() }
        // Reading may have unblocked the server, so that it reads again.
        if isWriteBlocked { flush() }
    }

    private func takeNotifications() {
        while let pointer = PQnotifies(pq) {
            let channel = String(cString: pointer.pointee.relname)
            let payload = String(cString: pointer.pointee.extra)
            notifications.append(PostgresNotification(kind: .message, channel: channel, payload: payload))
            PQfreemem(pointer)
        }
    }

    private func takeResults() {
        while failure == nil, PQisBusy(pq) == 0 {
            guard let pointer = PQgetResult(pq) else {
                guard commandEnded() else { return }
                continue
            }
            let result = PostgresResult(pointer)
            if script != nil {
                takeScriptResult(result)
            } else {
                take(result)
            }
        }
    }

    /// Handles a NULL, which ends the results of a command. Returns false when no result is left: a NULL without a result before it means
    /// that.
    private func commandEnded() -> Bool {
        if let unit = script {
            finishScript(unit)
            return false
        }
        guard hasResult else { return false }
        hasResult = false
        // An error at the Sync is followed by NULL too, but the result of the Sync itself is still to come.
        if case .sync? = expected.first { return true }
        expected.removeFirst()
        return true
    }

    private func take(_ result: PostgresResult) {
        hasResult = true
        switch result.status {
        case PGRES_PIPELINE_SYNC:
            hasResult = false
            guard case .sync? = expected.popFirst(), let segment = segments.popFirst() else {
                return fail("the server sent an unexpected Sync")
            }
            finish(segment)
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            if case .execute(let unit, _, _, isOwn: true)? = expected.first {
                unit.result = .success(PostgresRows(result: result))
            }
        case PGRES_FATAL_ERROR:
            takeError(result.error(on: pq))
        case PGRES_PIPELINE_ABORTED:
            takeAborted()
        default:
            fail("COPY is not supported")
        }
    }

    private func takeError(_ error: PostgresError) {
        switch expected.first {
        case .prepare(let unit, let statement):
            statements.remove(statement)
            unit.result = .failure(error)
        case .execute(let unit, let statement, let isFresh, _):
            unit.result = .failure(error)
            // The server does not have the statement any more, or its result has other columns now: prepare it again, once.
            if !isFresh, error.sqlState == "26000" || error.sqlState == "0A000" {
                // Within a transaction it cannot be sent again. As with a lost connection, the transaction is repeated as a whole.
                if !unit.isRetryable { unit.result = .failure(.staleStatement(error)) }
                statements.remove(statement)
                if error.sqlState == "0A000" { statementsToDeallocate.append(statement.name) }
                unit.isStale = true
            }
        case .preamble(let unit):
            unit.result = .failure(error)
        case .deallocate, nil:
            break
        case .sync:
            if !segments.isEmpty { segments[segments.startIndex].error = error }
        }
    }

    private func takeAborted() {
        switch expected.first {
        case .prepare(_, let statement): statements.remove(statement)
        case .deallocate(let name): statementsToDeallocate.append(name)
        default: break
        }
    }

    /// Finishes the units of a segment whose Sync has arrived, or marks them for a retry.
    private func finish(_ segment: Segment) {
        segmentFinished(segment)
        for unit in segment.units {
            if let error = segment.error { unit.result = .failure(error) }
            if unit.isStale {
                unit.isStale = false
                if !unit.wasRetried, unit.isRetryable {
                    unit.wasRetried = true
                    toRetry.append(unit)
                    continue
                }
            }
            if unit.wasStoppedByMistake {
                unit.wasRetried = true
                unit.needsOwnSegment = true
                toRetry.append(unit)
                continue
            }
            if unit.result == nil, unit.isRetryable {
                // The error of another unit of the segment aborted it before it ran.
                unit.needsOwnSegment = true
                toRetry.append(unit)
                continue
            }
            finished.append(unit)
        }
    }

    // MARK: Scripts

    private func takeScriptResult(_ result: PostgresResult) {
        guard let unit = script else { return }
        switch result.status {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            if case .failure? = unit.result { return }
            unit.result = .success(PostgresRows(result: result))
        case PGRES_FATAL_ERROR:
            if case .failure? = unit.result { return }
            unit.result = .failure(result.error(on: pq))
        default:
            fail("COPY is not supported")
        }
    }

    private func finishScript(_ unit: WorkUnit) {
        scriptFinished()
        finished.append(unit)
        if PQenterPipelineMode(pq) != 1 { failFromLibrary() }
    }
}
