package shop;

import jakarta.persistence.LockModeType;
import java.math.BigDecimal;
import java.util.*;
import org.springframework.data.jpa.repository.*;

interface Customers extends JpaRepository<Customer, Long> {
    List<Customer> findByNameContainingIgnoreCase(String part);
}

interface Purchases extends JpaRepository<Purchase, UUID> {
    @Query("select sum(p.amount) from Purchase p where p.customer.active = true")
    BigDecimal total();

    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @Query("select p from Purchase p order by p.id limit 1")
    Purchase findLocked();
}

interface Notes extends JpaRepository<Note, Long> {}
